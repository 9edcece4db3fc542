import { listProfileFolders, listProfileNames } from '@parley/settings';
import type { DataFolder } from '../../data-folder.ts';
import { findChosenAgent, type LoadedSettings } from '../../settings.ts';

/** Lists the models and the profiles with which turns of an agent can be replayed (G22). */
export function listReplayChoices(
  loaded: LoadedSettings,
  agent: string | undefined,
  folder: Pick<DataFolder, 'path'>,
) {
  const { model, choices } = findChosenAgent(loaded, agent).settings.model;
  // A model that was found or is built in has no name in the settings.
  const models = typeof model === 'string' ? [] : [model, ...choices];
  return {
    models: models.map((one) => `${one.provider}/${one.model}`),
    profiles: listProfileNames(listProfileFolders(folder.path)),
  };
}
