#include "cli/command_line.hpp"

int main(int argc, char** argv) { return nearfield::cli::run(argc, argv); }
