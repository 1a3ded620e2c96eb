#include "base/control_groups.hpp"

#include <fstream>
#include <sstream>

namespace nearfield {
namespace {

/// Returns whether a list a,b,c contains `word`.
bool lists(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// A line of /proc/self/cgroup, "number:controllers:path"; version 2 has no controllers.
struct membership {
    std::string controllers, path;
};

std::vector<membership> memberships(const std::string& root) {
    std::vector<membership> all;
    std::ifstream from(root + "/proc/self/cgroup");
    for (std::string number, controllers, path;
         std::getline(from, number, ':') && std::getline(from, controllers, ':') && std::getline(from, path);)
        all.push_back({controllers, path});
    return all;
}

/// Decodes mountinfo's text, where blanks and backslashes are written as \ and three octal digits.
std::string unescaped(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// Adds the group at `path` of a hierarchy whose group `top` is mounted at `mount`, and all groups between. Without a
/// common path, as in a namespace with another root, only the mounted group is visible.
void add(std::vector<control_group>& to, const std::string& mount, const std::string& top, std::string path,
         bool unified) {
    const std::string above = top == "/" ? "" : top;
    const bool below = path.compare(0, above.size(), above) == 0 && path.find("/..") == std::string::npos &&
                       (path.size() == above.size() || path[above.size()] == '/');
    path = below ? path.substr(above.size()) : "";
    while (!path.empty() && path.back() == '/') path.pop_back();
    for (; !path.empty(); path.erase(path.rfind('/'))) to.push_back({mount + path, unified});
    to.push_back({mount, unified});
}

}  // namespace

std::vector<control_group> control_groups(const std::string& controller, const std::string& root) {
    std::vector<control_group> all;
    const std::vector<membership> mine = memberships(root);
    std::ifstream mounts(root + "/proc/self/mountinfo");
    for (std::string line; !mine.empty() && std::getline(mounts, line);) {
        // Example: 36 35 98:0 /group /mounted/at rw,noatime shared:1 - cgroup cgroup rw,memory
        std::istringstream words(line);
        std::string skipped, top, mount, type, options;
        words >> skipped >> skipped >> skipped >> top >> mount;
        while (words >> skipped && skipped != "-") {
        }
        words >> type >> skipped >> options;
        const bool unified = type == "cgroup2";
        if (!unified && (type != "cgroup" || !lists(options, controller))) continue;
        for (const membership& m : mine)
            if (unified ? m.controllers.empty() : lists(m.controllers, controller))
                add(all, root + unescaped(mount), unescaped(top), m.path, unified);
    }
    return all;
}

std::optional<std::int64_t> number_in(const std::string& file) {
    std::ifstream from(file);
    std::int64_t number = 0;
    return from >> number ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> number_in(const std::string& file, const std::string& key) {
    std::ifstream from(file);
    std::string word, rest;
    std::int64_t number = 0;
    for (; from >> word && from >> number; std::getline(from, rest))
        if (word == key) return number;
    return std::nullopt;
}

}  // namespace nearfield
