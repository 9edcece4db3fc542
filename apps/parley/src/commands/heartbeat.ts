import { silentLogger } from '@parley/contracts';
import {
  createFindTarget,
  createHeartbeat,
  HeartbeatAnswer,
  HeartbeatReport,
  makeReport,
} from '@parley/proactive';
import { openStore } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { askRunning } from '../ask-gateway.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { findGateway } from '../find-gateway.ts';
import { LOCAL_OWNERS } from '../local-owners.ts';
import { newId } from '../new-id.ts';
import { readSettings } from '../read-settings.ts';
import { WORKSPACE_TEMPLATES } from '../workspace-templates.ts';
import { heartbeatText } from './heartbeat-text.ts';

/** What `parley heartbeat` is to do; `task` empty: the one that is due. */
export type HeartbeatOrder =
  | { readonly kind: 'show'; readonly json: boolean }
  | { readonly kind: 'now'; readonly task: string; readonly json: boolean };

type Print = (text: string) => void;

/**
 * `parley heartbeat [now]`: 0 fine, 1 HEARTBEAT.md needs mending or no task began, 3 nothing runs that
 * could run a task. A stopped installation is read from its files.
 */
export async function heartbeatCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  order: HeartbeatOrder,
  print: Print,
): Promise<number> {
  return order.kind === 'show' ? show(folder, env, order, print) : now(folder, env, order, print);
}

async function show(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { json }: HeartbeatOrder,
  print: Print,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  const report =
    gateway === null
      ? await reportOfStopped(folder, env)
      : await askRunning(gateway, { path: '/api/heartbeat', answer: HeartbeatReport });
  if (json) print(JSON.stringify({ running: gateway !== null, ...report }, null, 2));
  else print(heartbeatText(report, gateway !== null));
  return report.problems.length === 0 ? 0 : 1;
}

async function now(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { task, json }: Extract<HeartbeatOrder, { kind: 'now' }>,
  print: Print,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  if (gateway === null) {
    const start = commandLine('start', folder);
    print(`No Parley runs on ${folder.path}, so nothing can run a task. Start it with "${start}".`);
    return 3;
  }
  const answer = await askRunning(gateway, {
    path: '/api/heartbeat/now',
    body: { id: newId('wish'), ...(task !== '' && { task }) },
    answer: HeartbeatAnswer,
  });
  print(json ? JSON.stringify(answer, null, 2) : answer.words);
  return answer.task === null ? 1 : 0;
}

async function reportOfStopped(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<HeartbeatReport> {
  const { settings } = readSettings(folder, env);
  const clock = Date.now;
  const log = silentLogger;
  const { heartbeat, owners, tools } = settings;
  const agent = { id: settings.agent.id, timeZone: settings.agent.timeZone };
  const workspace = await openWorkspace({
    folder: settings.agent.workspace,
    templates: WORKSPACE_TEMPLATES,
  });
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock });
  try {
    const findTarget = createFindTarget({
      store,
      owners: [...owners, ...LOCAL_OWNERS],
      // Which accounts work shows when it is started.
      serves: () => true,
      chats: tools.message.chats,
      tell: heartbeat.tell,
      log,
    });
    const view = workspace.for({ kind: 'owner', conversationId: 'heartbeat' });
    const idle = async () => {};
    const parts = { store, agent, settings: heartbeat, findTarget, clock };
    const made = createHeartbeat({ ...parts, view, log, wake: idle, deliver: idle });
    return await makeReport({ ...parts, heartbeat: made, isRunning: false });
  } finally {
    await store.close();
  }
}
