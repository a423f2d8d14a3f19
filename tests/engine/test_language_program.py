def test_smoke(project):
    assert project
