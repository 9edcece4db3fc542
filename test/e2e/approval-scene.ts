import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyHere, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';

const FILE = 'notes/birds.md';

/** Cleanup functions of a test, in the order in which the resources were opened. */
export type Closing = (() => Promise<void> | void)[];

/** A model that tries to write a file when asked to, and reports the result. */
export async function writingModel(closing: Closing): Promise<ModelDouble> {
  const model = await startModelDouble();
  closing.push(() => model.close());
  model.reply(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return `It said: ${textOf(last)}`;
    const question = textOf(last).split('\n').at(-1) ?? '';
    if (question.includes('what time'))
      return { toolCalls: [{ name: 'current_time', arguments: {} }] };
    if (!question.includes('note it')) return `You said: ${question}`;
    const write = { path: FILE, text: 'Parrots talk.' };
    return { text: 'I will note it.', toolCalls: [{ name: 'write', arguments: write }] };
  });
  return model;
}

type Meanwhile = () => Promise<void> | void;

export interface Started {
  readonly folder: DataFolder;
  readonly process: () => TestParley;
  /** Stops Parley, by SIGKILL if it has its own process, and restarts it in the test process. */
  readonly restart: (
    meanwhile?: Meanwhile,
    here?: Parameters<typeof startParleyHere>[1],
  ) => Promise<void>;
}

export interface StartedApart extends Started {
  /** Like `restart`, but starts a separate process so that Parley can be killed a second time. */
  readonly restartApart: (meanwhile?: Meanwhile) => Promise<void>;
}

/** Starts Parley in the test process with the given model and settings. */
export async function start(
  model: ModelDouble,
  settings: object,
  closing: Closing,
): Promise<Started> {
  const folder = folderFor(model, settings);
  return startedIn(folder, await startParleyHere(folder.path), closing);
}

/** Starts Parley in a separate process, which can be killed. */
export async function startApart(
  model: ModelDouble,
  settings: object,
  closing: Closing,
): Promise<StartedApart> {
  const folder = folderFor(model, settings);
  return startedIn(folder, await startParleyProcess(folder.path), closing);
}

function startedIn(folder: DataFolder, first: TestParley, closing: Closing): StartedApart {
  let parley = first;
  closing.push(async () => {
    await parley.discard();
    folder.remove();
  });
  const endThen = async (meanwhile: Meanwhile = () => {}): Promise<void> => {
    await parley.discard();
    await meanwhile();
  };
  return {
    folder,
    process: () => parley,
    async restart(meanwhile, here) {
      await endThen(meanwhile);
      parley = await startParleyHere(folder.path, here);
    },
    async restartApart(meanwhile) {
      await endThen(meanwhile);
      parley = await startParleyProcess(folder.path);
    },
  };
}

function folderFor(model: ModelDouble, settings: object): DataFolder {
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
export const noted = ({ folder }: Started) => {
  const path = join(folder.path, 'workspace', FILE);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
};
/** The approval record as `parley approvals` prints it. */
export const record = async ({ folder }: Started) =>
  (await runCommand(['--data', folder.path, 'approvals', '--limit', '5'])).out;
