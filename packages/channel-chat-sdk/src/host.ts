import type { ChannelContext, ChannelEnv } from '@parley/channels';
import { createLanes, ParleyError, reasonOf } from '@parley/core';
import type { ChatInstance, WebhookOptions } from 'chat';
import type { CurrentEvent } from './event-scope.ts';
import type { Intake } from './intake.ts';
import { createChatLogger } from './library.ts';
import type { ChatState } from './state.ts';

interface HostDeps extends Pick<ChannelEnv, 'wait'>, Pick<ChannelContext<unknown>, 'log'> {
  readonly state: ChatState;
  readonly intake: Intake;
  readonly current: CurrentEvent;
  readonly userName: () => string;
  readonly stopping: AbortSignal;
  /** A thread's lane; messages in the same lane are stored in order. */
  readonly laneOf: (threadId: string) => string;
}

/** The delay (ms) and the number of retries for events from an adapter that polls. */
const [RETRY_MS, MAX_RETRIES] = [2_000, 30];

/**
 * The Chat SDK host for an adapter. It replaces the `Chat` class: messages go to the inbox, and the
 * webhook that delivered them is answered once they are stored. Its methods never reject, because
 * adapters do not await them; instead, the event records each failure.
 */
export function createHost(deps: HostDeps): Required<ChatInstance> {
  const { intake, log, state } = deps;
  const take = createTaskRunner(deps);
  const unsupported = (what: string): undefined => void log.info({}, `${what} is not supported`);
  return {
    getState: () => state,
    getLogger: (prefix) => createChatLogger(log, prefix),
    getUserName: () => deps.userName(),
    get history(): never {
      throw createUnavailableError('history');
    },
    get transcripts(): never {
      throw createUnavailableError('transcripts');
    },
    processMessage: (_adapter, threadId, message, options) =>
      take(threadId, options, () => intake.message(threadId, message)),
    handleIncomingMessage: (_adapter, threadId, message) =>
      take(threadId, undefined, () => intake.message(threadId, message)),
    processMessageUpdated: ({ threadId, message }, options) =>
      take(threadId, options, () => intake.edited(threadId, message)),
    processMessageDeleted: (event, options) =>
      take(event.threadId, options, () => intake.deleted(event)),
    processAction: (event, options) => take(event.threadId, options, () => intake.pressed(event)),
    processReaction: (event, options) => take(event.threadId, options, () => intake.reacted(event)),
    processSlashCommand: (event, options) =>
      take(event.channelId, options, () => intake.command(event)),
    // The next event names the person, so Parley can check whether the person may stop the turn.
    abortTurn: async () => {},
    processAgentSessionStopped: (event, options) =>
      void take(event.threadId, options, () => intake.stopped(event)),
    // Modals and dynamic menus must be answered within 3 s by the code that opened them. Parley
    // does not open any.
    processModalSubmit: async () => unsupported('a modal'),
    processModalClose: () => unsupported('a modal'),
    processOptionsLoad: async () => unsupported('a menu with options on demand'),
    // These events report what a person is viewing or how a conversation changes, and do not start
    // a turn.
    processAgentSessionTitleChanged: () => {},
    processAppContextChanged: () => {},
    processAppHomeOpened: () => {},
    processAssistantContextChanged: () => {},
    processAssistantThreadStarted: () => {},
    processInstalled: () => log.info({}, 'the app was installed'),
    processUninstalled: () => log.info({}, 'the app was removed'),
    processMemberJoinedChannel: () => {},
  };
}

type TaskRunner = (
  threadId: string,
  options: WebhookOptions | undefined,
  work: () => Promise<void>,
) => Promise<void>;

/**
 * Runs an adapter's work in order within a chat, and delays the answer to the event until the work
 * ends.
 */
function createTaskRunner(deps: HostDeps): TaskRunner {
  const { current, log, laneOf } = deps;
  const inLanes = createLanes();
  return (threadId, options, work) => {
    const { scope } = current;
    // A polling adapter cannot return an event to its platform for redelivery.
    const task = scope === undefined ? () => retryUntilStored(work, deps) : work;
    const taken = inLanes(laneOf(threadId), task).catch((error: unknown) => {
      log.error({ reason: reasonOf(error) }, 'an event could not be stored');
      scope?.fail(error);
    });
    scope?.track(taken);
    options?.waitUntil?.(taken);
    return taken;
  };
}

async function retryUntilStored(
  work: () => Promise<void>,
  { log, wait, stopping }: Pick<HostDeps, 'log' | 'wait' | 'stopping'>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries > MAX_RETRIES || stopping.aborted) throw error;
      log.warn({ reason: reasonOf(error) }, 'an event could not be stored; retrying');
      await wait(RETRY_MS, stopping);
    }
  }
}

function createUnavailableError(what: string): ParleyError {
  return new ParleyError({
    code: 'chat-sdk-unavailable',
    message: `Parley manages conversations itself, so the Chat SDK's ${what} is not available.`,
    retryable: false,
  });
}
