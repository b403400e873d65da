/** Opens a page in one file: its stylesheet and its script lie in it, compressed; their hashes are in its policy. */

import { unpacked } from "../lib/unpack-bytes.js";

const packed = (/** @type {string} */ id) => unpacked(/** @type {HTMLElement} */ (document.getElementById(id))).text();

async function load() {
  const [styles, code] = await Promise.all([packed("sheet"), packed("script")]);
  const sheet = document.createElement("style");
  sheet.textContent = styles;
  document.head.querySelector("style")?.replaceWith(sheet);
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = code;
  document.body.append(script);
}

void load();
