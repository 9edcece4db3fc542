import { newsChecker, postMessage } from '@parley/agent';
import { ownersChat } from '@parley/channels';
import {
  createFindTarget,
  createHeartbeat,
  type Heartbeat,
  type HeartbeatDesk,
  heartbeatDesk,
  judgeBeats,
  tellFailures,
  tokensToday,
} from '@parley/proactive';
import type { WorkerOptions } from '@parley/worker';
import { servedBy } from './message-settings.ts';
import type { OpenAgent } from './open-agent.ts';
import type { Parts } from './open-parts.ts';
import { outsideTools } from './outside-tools.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** The heartbeat of this installation, and what the worker needs of it. */
export interface OpenHeartbeat {
  readonly heartbeat: Heartbeat;
  /** What people see of it and ask of it. */
  readonly desk: HeartbeatDesk;
  /** How its runs are judged, and what they may use. */
  readonly rules: WorkerOptions['heartbeat'];
}

/** What it is made from. */
export interface OpenHeartbeatDeps
  extends Pick<Parts['shared'], 'store' | 'turns' | 'deliver' | 'clock' | 'log'>,
    Pick<OpenAgent, 'place' | 'workspace' | 'promptFiles'>,
    Pick<StartOptions, 'folder'> {
  readonly owners: readonly string[];
  readonly accounts: Parts['accounts'];
}

/** Opens the heartbeat of the agent: tasks of its workspace, alerts to its owner. */
export function openHeartbeat(
  all: LoadedSettings['settings'],
  { place: agent, workspace, promptFiles, accounts, folder, ...deps }: OpenHeartbeatDeps,
): OpenHeartbeat {
  const { store, turns, deliver, clock } = deps;
  const settings = all.heartbeat;
  const { chats } = all.tools.message;
  const serves = servedBy(accounts);
  const findTarget = createFindTarget({ ...deps, serves, chats, tell: settings.tell });
  const tell = async (key: string, markdown: string) => {
    const chat = await ownersChat({ ...deps, serves });
    if (chat === null) return;
    const { replyToMessageId: _, ...route } = chat.last.route;
    await postMessage({ store, deliver, clock }, { key, route, markdown, isMarked: true });
  };
  const heartbeat = createHeartbeat({
    ...deps,
    tellFailures: tellFailures({ store, agent, settings, tell, clock }),
    agent,
    settings,
    view: workspace.for({ kind: 'owner', conversationId: 'heartbeat' }),
    findTarget,
    checkForNews: newsChecker(outsideTools(all, { workspace, promptFiles }, { folder })),
    wake: (lane) => turns.kick(lane),
    deliver: ({ channel, account, chatId }) => deliver(channel, account, chatId),
  });
  const rules = {
    judge: judgeBeats({ ...deps, agent, settings }),
    limits: async () => {
      const left = settings.tokensPerDay - (await tokensToday({ store, agent, clock }));
      return { steps: settings.steps, tokens: Math.max(0, left) };
    },
  };
  const desk = heartbeatDesk({ heartbeat, store, agent, settings, findTarget, clock });
  return { heartbeat, desk, rules };
}
