"""Converts the annotated tasks with Label Studio's own converter, as its export buttons do."""

import shutil
from pathlib import Path

from label_studio_sdk.converter import Converter

configuration = Path("config.xml").read_text(encoding="utf-8")
converter = Converter(configuration, ".", download_resources=False)
converter.convert_to_csv("tasks.json", "made/csv", sep=",", header=True, is_dir=False)
converter.convert_to_json_min("tasks.json", "made/json", is_dir=False)
shutil.move("made/csv/result.csv", "project.csv")
shutil.move("made/json/result.json", "project-min.json")
shutil.rmtree("made")
