/** Names of models in a menu: those that translate, language models, and those of the zoo by task. */

import { changedName, taskName } from "./zoo-names.js";

/** @import { ModelInfo } from "../wire/model.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/** The group of models that do not translate and name no other purpose. */
const LANGUAGE = "language";

/** @param {ModelInfo[]} models @returns {{task: string | null, models: ModelInfo[]}[]}  in the order in which they are served */
export function grouped(models) {
  const tasks = [...new Set(models.map(taskOf))];
  return tasks.map((task) => ({ task, models: models.filter((model) => taskOf(model) === task) }));
}

/** @param {ModelInfo} model @returns {string | null}  null: translation */
export const taskOf = ({ zoo, directions }) => zoo?.task ?? (directions?.length === 0 ? LANGUAGE : null);

/** @param {Translate} t @param {string | null} task */
export function headed(t, task) {
  if (task === LANGUAGE) return t("Language models");
  return task ? taskName(t, task) : t("Translation");
}

/** A short description of a model. @param {Translate} t @param {ModelInfo} model */
export function called(t, { name, zoo }) {
  return zoo ? `${taskName(t, zoo.task)}: ${changedName(t, zoo.changed)}` : name;
}
