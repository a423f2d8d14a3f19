"""`pulumi config set worker.size N` and `pulumi up`: more nodes, or fewer."""

from tests.cluster.stacks import Stack


def test_growing_from_two_to_four_and_back(dev: Stack) -> None:
    before = dev.file.read_text()
    try:
        dev.set("worker.size", "4")
        preview = dev.pulumi("preview", "--diff")
        assert "worker-[0-3]" in preview.stdout + preview.stderr
        dev.up()
        assert sorted(dev.run("srun -N4 hostname").split()) == [f"worker-{number}" for number in range(4)]
        assert dev.run("getent hosts worker-3")
        dev.set("worker.size", "2")
        dev.up()
        assert dev.run("sinfo --noheader -o %D") == "2"
        assert sorted(dev.run("srun -N2 hostname").split()) == ["worker-0", "worker-1"]
    finally:
        dev.file.write_text(before)
    dev.up("--expect-no-changes")
