import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HeartbeatRun, openStore, type Store } from '@parley/store';
import { startParleyInProcess, type TestParley } from '../e2e/parley-here.ts';
import type { DataFolder } from '../e2e/parley-process.ts';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import type { ScriptedReply } from '../model/scripted-reply.ts';

/** A deadline that suffices on a busy machine, in ms. */
export const TIMEOUT_MS = 30_000;

/** A model whose heartbeat answers the test scripts; it repeats everything else. */
export interface BeatModel {
  readonly double: ModelDouble;
  /** Scripts the answer to heartbeats from now on; a function receives the request. */
  says(reply: ScriptedReply | ((request: ChatRequest) => ScriptedReply)): void;
  /** Only the requests of heartbeats. */
  beats(): readonly ChatRequest[];
}

/** Whether a request belongs to a heartbeat. */
function isBeat({ messages }: ChatRequest): boolean {
  return messages.some(
    (message) => message.role === 'system' && getMessageText(message).includes('## Heartbeat'),
  );
}

export async function startBeatModel(): Promise<BeatModel> {
  const double = await startModelDouble();
  let reply: ScriptedReply | ((request: ChatRequest) => ScriptedReply) = 'HEARTBEAT_OK';
  double.reply((request) => {
    if (isBeat(request)) return typeof reply === 'function' ? reply(request) : reply;
    return `You said: ${getMessageText(request.messages.at(-1)).split('\n').at(-1)}`;
  });
  return {
    double,
    says: (next) => {
      reply = next;
    },
    beats: () => double.requests.map(({ body }) => body).filter(isBeat),
  };
}

/** One task that is always due. */
export const TASK = `## mail
- every: 30 min
- do: Look through new mail.
`;

/** Writes a file into the workspace of a data folder. */
export function writeWorkspaceFile({ path }: DataFolder, name: string, text: string): void {
  const file = join(path, 'workspace', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Opens the database of a stopped installation. */
export async function withStore<Found>(
  folder: DataFolder,
  use: (store: Store) => Promise<Found>,
): Promise<Found> {
  const store = await openStore({
    url: `sqlite:${join(folder.path, 'parley.db')}`,
    clock: Date.now,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Stops Parley, makes a heartbeat due, and restarts. */
export async function restartWithDueHeartbeat(
  folder: DataFolder,
  parley: TestParley,
): Promise<TestParley> {
  await parley.end();
  await withStore(folder, (store) => store.heartbeats.arm('main', 1, Date.now()));
  return startParleyInProcess(folder.path);
}

/** The number of runs that have ended since startup, according to the log. */
export const runsEnded = (parley: TestParley): number =>
  parley
    .err()
    .split('\n')
    .filter((line) => line.includes('"msg":"heartbeat"')).length;

/** All runs so far, oldest first; stops Parley. */
export async function readRuns(
  folder: DataFolder,
  parley: TestParley,
): Promise<readonly HeartbeatRun[]> {
  await parley.end();
  const runs = await withStore(folder, (store) => store.heartbeats.recent('main', 99));
  return runs.toReversed();
}
