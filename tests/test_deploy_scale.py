"""The manifests for several machines fit their schemas, and agree with the code."""

import json
import re
from collections.abc import Iterator
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
import yaml

from app.settings import Settings
from tests.servers import ROOT

FOLDER = ROOT / "deploy/scale"
KUBERNETES = "1.35"
IMAGE = "headlight:scale"
NGINX = "nginx:1.29"
PINNED = dict(re.findall(r"^(\w+)\S*?==(\S+)", (ROOT / "requirements-scale.txt").read_text(), re.M))


def manifests() -> Iterator[dict[str, Any]]:
    """Yield every object that kustomize would apply."""
    for name in yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]:
        yield from yaml.safe_load_all((FOLDER / name).read_text())


MANIFESTS = {f"{one['kind']}/{one['metadata']['name']}": one for one in manifests()}
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in a document."""
    if isinstance(value, dict):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from walk(part)


def containers() -> Iterator[dict[str, Any]]:
    """Yield the containers of all manifests."""
    for mapping in walk(list(MANIFESTS.values())):
        yield from mapping.get("containers", ())


def environments() -> Iterator[dict[str, Any]]:
    """Yield the environment of each container; a value from a secret is its reference."""
    for one in containers():
        yield {entry["name"]: entry.get("value", "") for entry in one.get("env", ())}
    for service in COMPOSE["services"].values():
        yield service.get("environment", {})


@pytest.mark.parametrize("name", [name for name in MANIFESTS if not name.startswith("RayService")])
def test_a_manifest_fits_its_schema(name: str) -> None:
    kubernetes_validate.validate(MANIFESTS[name], KUBERNETES, strict=True)


@pytest.mark.parametrize("group", ["head", "worker"])
def test_the_pods_of_ray_fit_theirs(group: str) -> None:
    """Ray's custom resources have no schema offline, but their pods have."""
    cluster = MANIFESTS["RayService/headlight"]["spec"]["rayClusterConfig"]
    template = {"head": cluster["headGroupSpec"], "worker": cluster["workerGroupSpecs"][0]}[group]
    pod = {"apiVersion": "v1", "kind": "Pod", **template["template"]}
    pod["metadata"]["name"] = group
    kubernetes_validate.validate(pod, KUBERNETES, strict=True)


def test_ray_is_the_version_that_is_pinned() -> None:
    spec = MANIFESTS["RayService/headlight"]["spec"]
    assert spec["rayClusterConfig"]["rayVersion"] == PINNED["ray"]
    assert set(spec) == {"serveConfigV2", "rayClusterConfig"}
    assert {one["groupName"] for one in spec["rayClusterConfig"]["workerGroupSpecs"]} == {"engines"}


def test_applications_are_what_servers_ask_for() -> None:
    """Each model in the servers' settings is an application with that name."""
    serve = yaml.safe_load(MANIFESTS["RayService/headlight"]["spec"]["serveConfigV2"])
    names = [one["name"] for one in serve["applications"]]
    for environment in environments():
        if "HEADLIGHT_MODELS" in environment:
            assert [*Settings(models=environment["HEADLIGHT_MODELS"]).bundles] == names
    source = (ROOT / "app/scale/application.py").read_text()
    fields = set(re.findall(r"^    (\w+): \w+ = Field", source, re.M))
    for one in serve["applications"]:
        module, _, function = one["import_path"].partition(":")
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
        assert f"def {function}(args: EngineArguments)" in source
        assert set(one["args"]) <= fields
        assert one["args"]["model"].partition("=")[0] == one["name"]
        workers = MANIFESTS["RayService/headlight"]["spec"]["rayClusterConfig"]["workerGroupSpecs"][
            0
        ]
        cores = float(workers["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        assert one["args"]["cpus"] <= cores
        assert one["args"]["most"] * one["args"]["cpus"] <= workers["maxReplicas"] * cores


def test_manifests_use_existing_settings() -> None:
    """Every setting exists and accepts its value."""
    seen = set()
    for environment in environments():
        given = {
            name.removeprefix("HEADLIGHT_").lower(): value
            for name, value in environment.items()
            if name.startswith("HEADLIGHT_")
        }
        assert set(given) <= set(Settings.model_fields)
        seen |= set(given)
        told = {name: value for name, value in given.items() if value and "$" not in value}
        Settings(**told)
    assert seen >= {"ray_address", "database_url", "rates_url", "trusted_proxies"}


def test_images_are_ours_or_pinned() -> None:
    images = [one["image"] for one in containers()]
    images += [one["image"] for one in COMPOSE["services"].values()]
    assert {IMAGE, NGINX} <= set(images)
    for image in images:
        assert re.fullmatch(r"[a-z]+:(scale|[0-9.]+)", image), image
    for service in COMPOSE["services"].values():
        if service["image"] == IMAGE:
            file = service["build"]["args"]["MORE"].removeprefix("-r ")
            assert (ROOT / file).is_file()
            assert f"!{file}" in (ROOT / ".dockerignore").read_text().splitlines()
    assert "ARG MORE" in (ROOT / "Dockerfile").read_text()


def test_compose_fits_its_specification() -> None:
    compose_spec.PyCompose.from_json(json.dumps(COMPOSE))  # with its anchors resolved
    services = COMPOSE["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name


def test_names_and_ports_agree() -> None:
    """In both files, the proxy finds the servers, servers find Ray, and services find pods."""
    site = (FOLDER / "headlight.conf.template").read_text()
    (name, port) = re.findall(r"server (\w+):(\d+) resolve", site)[0]
    (listens,) = re.findall(r"listen (\d+);", site)
    service = MANIFESTS[f"Service/{name}"]["spec"]
    assert service["clusterIP"] == "None"
    assert [one["port"] for one in service["ports"]] == [int(port)] == [Settings().port]
    assert name in COMPOSE["services"]
    assert COMPOSE["services"]["proxy"]["ports"] == [f"{listens}:{listens}"]
    ports = {
        one["name"]: [p["containerPort"] for p in one["ports"]]
        for one in containers()
        if "ports" in one
    }
    assert ports["nginx"] == [int(listens)]
    assert ports["web"] == [int(port)]
    for environment in environments():
        if "HEADLIGHT_RAY_ADDRESS" in environment:
            host, _, number = environment["HEADLIGHT_RAY_ADDRESS"].partition(":")
            assert host in (
                "headlight-head-svc",
                "ray",
            )  # RayService gives the head's service this name
            assert int(number) in ports["ray-head"]
    for kind in ("Service/web", "Service/headlight"):
        selector = MANIFESTS[kind]["spec"]["selector"].items()
        pods = [
            one["template"]["metadata"]["labels"]
            for one in walk(list(MANIFESTS.values()))
            if "template" in one
        ]
        assert any(selector <= labels.items() for labels in pods), kind


def test_the_configuration_of_nginx_is_handed_on() -> None:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    (made,) = kustomization["configMapGenerator"]
    volumes = [one for one in walk(MANIFESTS["Deployment/headlight-proxy"]) if "configMap" in one]
    assert [one["configMap"]["name"] for one in volumes] == [made["name"]]
    for file in [*made["files"], *kustomization["resources"]]:
        assert (FOLDER / file).is_file()
    (mount,) = COMPOSE["services"]["proxy"]["volumes"]
    assert (FOLDER / mount.partition(":")[0]).is_file()


def test_secrets_are_those_that_the_docs_make() -> None:
    keys = {
        one["secretKeyRef"]["key"]
        for one in walk(list(MANIFESTS.values()))
        if "secretKeyRef" in one
    }
    made = re.findall(r"--from-literal=([\w-]+)=", (ROOT / "docs/scale.md").read_text())
    assert keys == set(made) == {"auth_token", "database-url", "rates-url"}
