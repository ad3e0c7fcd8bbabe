"""Builds the overlays of deploy/kubernetes as `kubectl kustomize` does, for machines without it.

Knows as much of Kustomize as those files use, and refuses the rest: resources, namespace, labels of
metadata, configMapGenerator, images, replicas, and patches that are merged without keyed lists.
"""

import copy
import hashlib
import json
import pathlib

import yaml

KNOWN = {
    "apiVersion", "kind", "resources", "namespace", "labels", "configMapGenerator", "images", "replicas", "patches",
}
# Lists of these names are merged by keys of their elements; no patch of ours may need that.
KEYED = {"containers", "initContainers", "volumes", "volumeMounts", "env", "ports"}
CLUSTER_WIDE = {"Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "StorageClass"}


class Unknown(Exception):
    """Something that this does not know of Kustomize."""


def build(folder):
    """All objects of an overlay or base, as kubectl would be given them."""
    objects, generated = load(pathlib.Path(folder))
    names = {}
    for entry in generated.values():
        name = entry["name"]
        if entry["hashed"]:
            name += "-" + hashlib.sha256(json.dumps(entry["data"], sort_keys=True).encode()).hexdigest()[:10]
        names[entry["name"]] = name
        objects.append({
            "apiVersion": "v1", "kind": "ConfigMap", "data": entry["data"],
            "metadata": {**copy.deepcopy(entry["metadata"]), "name": name},
        })
    for one in objects:
        rename(one, names)
    return objects


def load(folder):
    text = yaml.safe_load((folder / "kustomization.yaml").read_text())
    if unknown := set(text) - KNOWN:
        raise Unknown(f"{folder}: {', '.join(sorted(unknown))}")
    objects, generated = [], {}
    for resource in text.get("resources", []):
        path = folder / resource
        if path.is_dir():
            more, maps = load(path)
            objects += more
            generated.update(maps)
        else:
            objects += [one for one in yaml.safe_load_all(path.read_text()) if one]
    for entry in text.get("configMapGenerator", []):
        generate(folder, entry, generated)
    for patch in text.get("patches", []):
        apply(folder, patch, objects)
    everything = objects + list(generated.values())
    for label in text.get("labels", []):
        if set(label) != {"pairs"}:
            raise Unknown(f"{folder}: labels of selectors or templates")
        for one in everything:
            one["metadata"].setdefault("labels", {}).update(label["pairs"])
    if namespace := text.get("namespace"):
        for one in everything:
            if one.get("kind") not in CLUSTER_WIDE:
                one["metadata"]["namespace"] = namespace
    for replicas in text.get("replicas", []):
        found = [o for o in objects if o["kind"] in ("Deployment", "StatefulSet") and o["metadata"]["name"] == replicas["name"]]
        if not found:
            raise Unknown(f"{folder}: replicas of {replicas['name']}, which is not there")
        for one in found:
            one["spec"]["replicas"] = replicas["count"]
    for image in text.get("images", []):
        for one in objects:
            pod = template(one).get("spec", {})
            for container in pod.get("initContainers", []) + pod.get("containers", []):
                if container["image"].split(":")[0] == image["name"]:
                    container["image"] = f"{image.get('newName', image['name'])}:{image['newTag']}"
    return objects, generated


def template(one):
    """The template of an object's pods; empty when it has none."""
    spec = one.get("spec", {})
    return spec.get("jobTemplate", {}).get("spec", spec).get("template", {})


def generate(folder, entry, generated):
    data = dict(literal.split("=", 1) for literal in entry.get("literals", []))
    for file in entry.get("files", []):
        data[pathlib.Path(file).name] = (folder / file).read_text()
    behavior = entry.get("behavior", "create")
    if behavior == "merge":
        generated[entry["name"]]["data"].update(data)
    elif behavior == "create":
        hashed = not entry.get("options", {}).get("disableNameSuffixHash", False)
        generated[entry["name"]] = {"name": entry["name"], "data": data, "hashed": hashed, "metadata": {}}
    else:
        raise Unknown(f"{folder}: behavior {behavior}")


def apply(folder, patch, objects):
    if "path" not in patch:
        raise Unknown(f"{folder}: a patch without a path")
    change = yaml.safe_load((folder / patch["path"]).read_text())
    target = patch.get("target") or {"kind": change["kind"], "name": change["metadata"]["name"]}
    found = [
        one for one in objects
        if one["kind"] == target["kind"] and target.get("name", one["metadata"]["name"]) == one["metadata"]["name"]
    ]
    if not found:
        raise Unknown(f"{folder}: {patch['path']} finds nothing")
    for one in found:
        name = one["metadata"]["name"]
        merge(one, change)
        one["metadata"]["name"] = name


def merge(old, new):
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            merge(old[key], value)
        elif isinstance(value, list) and key in KEYED:
            raise Unknown(f"a patch of the list {key}, which is merged by keys")
        elif value is None:
            old.pop(key, None)
        else:
            old[key] = copy.deepcopy(value)


def rename(node, names):
    """Gives references to generated ConfigMaps the names that these have."""
    if isinstance(node, list):
        for one in node:
            rename(one, names)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(value, dict):
                value["name"] = names.get(value.get("name"), value.get("name"))
            rename(value, names)
