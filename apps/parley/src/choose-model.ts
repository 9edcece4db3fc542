import type { Clock, Logger } from '@parley/contracts';
import { type ChatModel, createChatModel } from '@parley/models';
import type { Secrets } from '@parley/telemetry';
import type { DataFolder } from './data-folder.ts';
import type { LoadedSettings } from './read-settings.ts';
import { scrubbedModel } from './scrubbed-model.ts';

/** The model of this installation and how people are told about it. */
export interface InstalledModel {
  readonly model: ChatModel;
  /** Which model answers and why, as far as it is known by now. */
  line(): string;
  /** The same, once it is known for good. */
  readonly known: Promise<string>;
}

/** What choosing a model needs besides the settings. */
export interface ChooseModelDeps {
  readonly folder: Pick<DataFolder, 'settingsFile'>;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

/** Makes the model the settings ask for; the search for a local server goes on meanwhile. */
export function chooseModel(
  { settings }: LoadedSettings,
  { folder, env, clock }: ChooseModelDeps,
  logger: Logger,
  secrets: Secrets,
): InstalledModel {
  const chosen = createChatModel(settings.model, {
    settingsFile: folder.settingsFile,
    clock,
    logger,
    timeZone: settings.agent.timeZone,
    ...(env.OLLAMA_HOST === undefined ? {} : { ollamaHost: env.OLLAMA_HOST }),
  });
  let line = chosen.model.id;
  const known = chosen.why.then((why) => {
    line = modelLine(why);
    return line;
  });
  return { model: scrubbedModel(chosen.model, secrets), line: () => line, known };
}

/** `offline: no model …` reads better after "Model:" as `offline – no model …`. */
function modelLine(why: string): string {
  return why.replace(': ', ' – ');
}
