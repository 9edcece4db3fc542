import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';

const FILE = 'notes/birds.md';

/** Cleanup functions of a test, in the order in which the resources were opened. */
export type CloseFunctions = (() => Promise<void> | void)[];

/** A model that tries to write a file when asked to, and reports the result. */
export async function startWritingModel(closing: CloseFunctions): Promise<ModelDouble> {
  const model = await startModelDouble();
  closing.push(() => model.close());
  model.reply(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return `It said: ${getMessageText(last)}`;
    const question = getMessageText(last).split('\n').at(-1) ?? '';
    if (question.includes('what time'))
      return { toolCalls: [{ name: 'current_time', arguments: {} }] };
    if (!question.includes('note it')) return `You said: ${question}`;
    const write = { path: FILE, text: 'Parrots talk.' };
    return { text: 'I will note it.', toolCalls: [{ name: 'write', arguments: write }] };
  });
  return model;
}

type RestartAction = () => Promise<void> | void;

export interface StartedParley {
  readonly folder: DataFolder;
  readonly process: () => TestParley;
  /** Stops Parley, by SIGKILL if it has its own process, and restarts it in the test process. */
  readonly restart: (
    meanwhile?: RestartAction,
    here?: Parameters<typeof startParleyInProcess>[1],
  ) => Promise<void>;
}

export interface StartedSeparately extends StartedParley {
  /** Like `restart`, but starts a separate process so that Parley can be killed a second time. */
  readonly restartApart: (meanwhile?: RestartAction) => Promise<void>;
}

/** Starts Parley in the test process with the given model and settings. */
export async function startInProcess(
  model: ModelDouble,
  settings: object,
  closing: CloseFunctions,
): Promise<StartedParley> {
  const folder = createFolder(model, settings);
  return toStartedSeparately(folder, await startParleyInProcess(folder.path), closing);
}

/** Starts Parley in a separate process, which can be killed. */
export async function startSeparately(
  model: ModelDouble,
  settings: object,
  closing: CloseFunctions,
): Promise<StartedSeparately> {
  const folder = createFolder(model, settings);
  return toStartedSeparately(folder, await startParleyProcess(folder.path), closing);
}

function toStartedSeparately(
  folder: DataFolder,
  first: TestParley,
  closing: CloseFunctions,
): StartedSeparately {
  let parley = first;
  closing.push(async () => {
    await parley.discard();
    folder.remove();
  });
  const endThen = async (meanwhile: RestartAction = () => {}): Promise<void> => {
    await parley.discard();
    await meanwhile();
  };
  return {
    folder,
    process: () => parley,
    async restart(meanwhile, here) {
      await endThen(meanwhile);
      parley = await startParleyInProcess(folder.path, here);
    },
    async restartApart(meanwhile) {
      await endThen(meanwhile);
      parley = await startParleyProcess(folder.path);
    },
  };
}

function createFolder(model: ModelDouble, settings: object): DataFolder {
  return makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 100 },
    http: { port: 0 },
    ...settings,
  });
}

/** The path of the written file: a file written in an owner's turn belongs to the owner (W09). */
export const NOTE = '---\naudience: owner # written by the agent\n---\n\nParrots talk.\n';

/** The content of the file that the model has written, or null if there is none yet. */
export const noted = ({ folder }: StartedParley) => {
  const path = join(folder.path, 'workspace', FILE);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
};
/** The approval record as `parley approvals` prints it. */
export const record = async ({ folder }: StartedParley) =>
  (await runCommand(['--data', folder.path, 'approvals', '--limit', '5'])).out;
