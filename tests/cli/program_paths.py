"""The verbs geodesic, path, roadmap and esdf end to end: fields, paths, maps of ROS, messages. Standard library."""

import json
import unittest

from program_case import Case, npy, parse_npy

WALL = npy((3, 5), [0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
MASK = npy((3, 3), [1, 1, 1, 0, 0, 1, 1, 1, 1])
MAP = """image: map.pgm
resolution: 0.5  # metres
origin: [-1.0, 2, 0.0]
occupied_thresh: 0.65
free_thresh: 0.196
negate: 0
"""


class Paths(Case):
    def write_map(self):
        (self.folder / "map.yaml").write_text(MAP)
        (self.folder / "map.pgm").write_bytes(b"P5 5 1 255\n" + bytes([0, 254, 254, 205, 254]))

    def test_geodesic(self):
        def costs(*words):
            return parse_npy(self.run_program("geodesic", "-", "-o", "-", *words, stdin=MASK).stdout)[2]

        self.assertEqual(costs("--start", "0,0", "--weights", "3,4")[-3:], [14, 11, 10])
        self.assertEqual(costs("--start", "0,0;2,0", "--weights", "cityblock")[-3:], [0, 1, 2])
        self.assertEqual(costs("--start", "0,0", "--weights", "1,1", "--max-cost", "1")[2], float("inf"))
        self.assertEqual(costs("--start", "0,0", "--weights", "3,4", "--no-corners")[-1], 12)

    def test_path(self):
        words = ("path", "-", "--start", "0,0", "--goal", "0,4", "--picture", "p.png")
        lines = self.run_program(*words, "-o", "-", stdin=WALL).stdout.decode().splitlines()
        self.assertEqual((lines[0], lines[1], lines[-1]), ("axis_0,axis_1", "0,0", "0,4"))
        self.assertTrue((self.folder / "p.png").read_bytes().startswith(b"\x89PNG"))
        said = json.loads(self.run_program(*words, "--json", stdin=WALL).stdout)
        self.assertTrue(said["found"] and said["clearance"] == 1)
        round_end = self.run_program(*words, "-o", "-", "--border", "open,periodic", stdin=WALL).stdout.decode()
        self.assertEqual(round_end.split(), ["axis_0,axis_1", "0,0", "0,-1"])
        said = json.loads(self.run_program(*words, "--json", "--radius", "1", stdin=WALL).stdout)
        self.assertIn("not connected", said["reason"])
        self.write_map()  # its free cells, 254, are obstacles without the YAML
        said = self.run_program("path", "map.pgm", "--start", "0,1", "--goal", "0,2").stderr.decode()
        self.assertIn("a map of ROS is read by its map.yaml", said)

    def test_costs_of_clearance(self):
        grid = npy((5, 9), [1] * 9 + [0] * 36)
        ends = ("path", "-", "--start", "2,0", "--goal", "2,8", "--objective", "safe", "--clearance-costs")

        def found(*words):
            return json.loads(self.run_program(*ends, *words, "--json", stdin=grid).stdout)

        self.assertEqual(found("1,0.25;2,9;inf,9")["clearance"], 1)
        self.assertEqual(found("1,9")["length"], 8)
        self.assertGreater(found("2,9")["length"], 8)
        self.assertGreater(found("nav2", "--inflation", "0.5,2.5,1", "--clearance-weight", "40")["length"], 8)
        self.assertEqual(found("nav2", "--inflation", "0.5,1.5,1", "--clearance-weight", "0")["length"], 8)
        for words, said in (
            (("1",), "--clearance-costs"),
            (("1,x",), "--clearance-costs"),
            (("2,1;1,1",), "clearance_costs"),
            (("nav2", "--inflation", "1,2"), "--inflation"),
        ):
            self.assertIn(said, self.refusal(*ends, *words, stdin=grid))

    def test_roadmap(self):
        words = ("roadmap", "-", "--start", "0,0", "--goal", "0,4", "--picture", "r.png", "--json")
        said = json.loads(self.run_program(*words, "-o", "g.csv", "--path", "p.csv", stdin=WALL).stdout)
        lines = (self.folder / "g.csv").read_text().splitlines()
        self.assertEqual(len(lines), 1 + said["roads"])
        row = dict(zip(lines[0].split(","), map(float, lines[1].split(","))))
        self.assertEqual((row["clearance"], row["node-id-src"]), (1, 0))
        cells = (self.folder / "p.csv").read_text().splitlines()
        self.assertEqual((cells[0], cells[1], cells[-1]), ("axis_0,axis_1", "0,0", "0,4"))
        self.assertTrue(said["path"]["found"] and said["path"]["clearance"] == 1)
        self.assertTrue((self.folder / "r.png").read_bytes().startswith(b"\x89PNG"))
        volume = npy((3, 3, 3), [0] * 27)
        said = json.loads(
            self.run_program(
                *words[:3], "0,0,0", "--goal", "2,2,2", "--picture", "r.png", "--json", stdin=volume
            ).stdout
        )
        self.assertGreaterEqual(said["path"]["length"], 12**0.5)
        said = json.loads(self.run_program(*words, "--radius", "1", stdin=WALL).stdout)
        self.assertIn("not connected", said["path"]["reason"])

    def test_maps(self):
        self.write_map()
        words = (
            "esdf",
            "map.yaml",
            "-o",
            "d.npy",
            "--gradient",
            "g.npy",
            "--costmap",
            "c.yaml",
            "--inflation",
            "0.5,1,1",
        )
        self.run_program(*words)
        self.assertEqual(parse_npy((self.folder / "d.npy").read_bytes())[2], [0, 0.5, 0.5, 0, 0.5])
        self.assertEqual((self.folder / "c.pgm").read_bytes()[-5:], bytes([254, 253, 152, 255, 0]))
        self.assertIn("resolution: 0.5\norigin: [-1, 2, 0]\n", (self.folder / "c.yaml").read_text())
        said = json.loads(self.run_program("path", "map.yaml", "--start", "0,1", "--goal", "0,4", "--json").stdout)
        self.assertFalse(said["found"])
        words = ("path", "map.yaml", "--start", "0,1", "--goal", "0,4", "--json", "--unknown", "free")
        self.assertEqual(json.loads(self.run_program(*words).stdout)["length"], 1.5)

    def test_modes_of_maps(self):
        self.write_map()
        text = (self.folder / "map.yaml").read_text()
        (self.folder / "map.pgm").write_bytes(b"P5 3 1 255\n" + bytes([254, 120, 0]))
        said = {}
        for mode in ("trinary", "scale", "raw"):
            (self.folder / "map.yaml").write_text(text + f"\nmode: {mode}\n")
            self.run_program("esdf", "map.yaml", "--costmap", "c.npy", "--inflation", "0,0,1")
            said[mode] = parse_npy((self.folder / "c.npy").read_bytes())[2]
        self.assertEqual(said, {"trinary": [0, 255, 254], "scale": [0, 185, 254], "raw": [254, 120, 0]})
        (self.folder / "map.yaml").write_text(text + "\nmode: gray\n")
        self.assertIn("give trinary, scale or raw", self.refusal("esdf", "map.yaml", "-o", "d.npy"))

    def test_a_picture_beside_the_output(self):
        words = ("path", "-", "--start", "0,0", "--goal", "0,4")
        self.run_program(*words, "-o", "way.csv", "--picture", stdin=WALL)
        self.assertTrue((self.folder / "way.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("--picture has no name", self.refusal(*words, "--picture", stdin=WALL))
        self.assertIn("--picture has no name", self.refusal(*words, "-o", "-", "--picture", stdin=WALL))

    def test_plans(self):
        for words in (("path", "--start", "0,0", "--goal", "0,4"), ("roadmap",), ("esdf", "-o", "d.npy")):
            said = self.run_program(words[0], "-", *words[1:], "--plan", stdin=WALL).stdout.decode()
            self.assertIn("workspace", said, words)

    def test_the_frame_of_a_map(self):
        self.write_map()
        (self.folder / "map.pgm").write_bytes(b"P5 3 2 255\n" + bytes(4 * [254] + [0, 254]))
        words = ("path", "map.yaml", "--start", "-1,2.2", "--goal", "0.49,2.49", "--world", "-o", "-")
        lines = self.run_program(*words).stdout.decode().split()
        self.assertEqual(lines, ["x,y", "-0.75,2.25", "-0.75,2.75", "-0.25,2.75", "0.25,2.75", "0.25,2.25"])
        self.assertIn("y from 2 to 3", self.refusal(*words[:3], "0,3", *words[4:]))
        self.assertIn("map.yaml", self.refusal("path", "map.pgm", *words[2:]))
        self.assertIn("No such file", self.refusal("path", "none.yaml", *words[2:], status=3))
        (self.folder / "map.yaml").write_text(MAP.replace("0.0]", "1.5]"))
        self.assertIn("rotated by 1.5", self.refusal(*words))

    def test_messages(self):
        for words, said in (
            (("geodesic", "-", "--start", "0,9"), "--start is 0,9"),
            (("geodesic", "-"), "--seeds FILE or --start"),
            (("geodesic", "-", "--start", "0,0", "--weights", "taxi"), "--weights"),
            (("path", "-", "--start", "0,0", "--goal", "1"), "--goal is 1"),
            (("path", "-", "--start", "0,0", "--goal", "1,1", "-o", "p.txt"), "-o is p.txt"),
            (("path", "-", "--start", "0,0", "--goal", "1,1", "--radius", "-1"), "radius is -1"),
            (("path", "-", "--start", "0,0;1,1", "--goal", "1,1"), "give one cell"),
            (("roadmap", "-", "--start", "0,0"), "--start or --goal is missing"),
            (("roadmap", "-", "--path", "p.csv"), "--start and --goal"),
            (("roadmap", "-", "--start", "0,0", "--goal", "0,9"), "--goal is 0,9"),
            (("roadmap", "-", "-o", "g.txt"), "-o is g.txt"),
            (("roadmap", "-", "-o", "-", "--start", "0,0", "--goal", "0,4", "--path", "-"), "stdout"),
            (("esdf", "-", "--costmap", "c.npy", "--inflation", "1,2"), "--inflation is 1,2"),
        ):
            self.assertIn(said, self.refusal(*words, stdin=WALL), words)


if __name__ == "__main__":
    unittest.main()
