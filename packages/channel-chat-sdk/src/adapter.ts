import { randomBytes } from 'node:crypto';
import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
} from '@parley/channels';
import { type Capabilities, ChannelError, reasonOf } from '@parley/core';
import { type Adapter, type Message, ThreadHistoryCache } from 'chat';
import { createFilesCapability } from './attachments.ts';
import { createAdapterExtensions } from './beside.ts';
import { Connection } from './connection.ts';
import { CurrentEvent } from './event-scope.ts';
import { createHost } from './host.ts';
import { Intake } from './intake.ts';
import { type AdapterFactory, createAdapter } from './library.ts';
import { ChatNames } from './names.ts';
import { createOutgoingCapabilities } from './outgoing.ts';
import { LocationConverter } from './places.ts';
import type { ChatSdkSettings } from './settings.ts';
import { ChatState } from './state.ts';
import { getTraits, type NamedTraits, restrictTraits } from './traits.ts';
import { Webhook } from './webhook.ts';

/** A Chat SDK adapter as used by a channel account. */
export interface HostedAdapter {
  readonly channel: string;
  readonly use: string;
  readonly name: string;
  readonly factory: AdapterFactory;
}

/**
 * One account of a platform, connected by a Chat SDK adapter. The adapter does not make requests
 * before `start`. An adapter that refuses its options is reported as failed.
 */
export function createChatSdkAdapter(
  hosted: HostedAdapter,
  context: ChannelContext<ChatSdkSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const traits = { ...getTraits(hosted.use), platform: hosted.name };
  const secret = randomBytes(24).toString('base64url');
  try {
    const { log, settings } = context;
    const adapter = createAdapter(hosted.factory, settings, { log, secret });
    const within = restrictTraits(traits, adapter);
    return hostAdapter({ ...hosted, adapter, traits: within, secret }, context, env);
  } catch (thrown) {
    return createRefusedAccount(traits, context, reasonOf(thrown));
  }
}

interface CreatedAdapter extends HostedAdapter {
  readonly adapter: Adapter;
  readonly traits: NamedTraits;
  readonly secret: string;
}

function hostAdapter(
  made: CreatedAdapter,
  context: ChannelContext<ChatSdkSettings>,
  env: ChannelEnv,
): ChannelAdapter {
  const { adapter, traits, secret, channel } = made;
  const { log, values } = context;
  const stop = new AbortController();
  const places = new LocationConverter(adapter, values);
  const names = new ChatNames(adapter, log);
  const current = new CurrentEvent();
  const state = new ChatState({ ...context, newId, current, assume });
  const beside = createAdapterExtensions(adapter, context);
  const webhook = new Webhook({ adapter, state, current, log, heard: beside.heard });
  const intake: Intake = new Intake({
    ...{ ...context, channel, adapter, places, names },
    bot: () => connection.bot,
    seen: rememberLastMessages(adapter, state),
    withoutButtons: (...of) => outgoing.withoutButtons(...of),
  });
  const socket = beside.socketOf?.({ secret, log, deliver: (event) => webhook.deliver(event) });
  const userName = () => connection.bot.userName;
  const stopping = stop.signal;
  const laneOf = (threadId: string) =>
    threadId === '' ? '' : adapter.channelIdFromThreadId(threadId);
  const hosting = { state, intake, current, userName, stopping, laneOf };
  const host = createHost({ ...context, ...env, ...hosting });
  const { platform } = traits;
  const { identify } = beside;
  const parts = { adapter, host, webhook, platform, identify, socket };
  const connection: Connection = new Connection({ ...context, ...env, ...parts });
  const outgoing = createOutgoingCapabilities({
    ...{ ...context, adapter, places, traits, stopping, ...beside },
    accountIs: (...is) => connection.accountIs(...is),
    isReady: () => connection.isReady,
    ready: (signal) => connection.ready(signal),
  });
  let running: Promise<void> | undefined;
  return {
    ...outgoing.sending,
    capabilities: getCapabilities(adapter, traits),
    async start() {
      context.report({ kind: 'starting' });
      running ??= connection.run(stopping);
    },
    async stop() {
      stop.abort();
      await webhook.stop();
      await running;
      await adapter.disconnect?.().catch((error: unknown) => {
        log.debug({ reason: reasonOf(error) }, 'the adapter did not disconnect');
      });
      context.report({ kind: 'stopped' });
    },
    chatName: async ({ chatId, threadId }) =>
      names.of(chatId, await places.threadIdOf({ chatId, threadId })),
    ...(traits.typing && {
      typing: {
        repeatMs: traits.typingMs,
        show: async (address) => adapter.startTyping(await places.threadIdOf(address)),
      },
    }),
    files: createFilesCapability(adapter, beside.download),
    ...(socket === undefined && { http: webhook }),
  };
}

const newId = () => randomBytes(9).toString('base64url');

/**
 * Slack's adapter would wait 2 s for the preview of each link, although the model does not need
 * previews.
 */
const assume = (key: string): unknown => (key.startsWith('slack:unfurls:') ? {} : null);

/**
 * Remembers the last message in each chat for adapters that cannot read messages: WhatsApp shows
 * "typing" only in reply to a message.
 */
function rememberLastMessages(adapter: Adapter, state: ChatState) {
  const kept = new ThreadHistoryCache(state, { maxMessages: 1 });
  return async (threadId: string, message: Message): Promise<void> => {
    if (adapter.persistThreadHistory === true) await kept.append(threadId, message);
  };
}

function getCapabilities(adapter: Partial<Adapter>, traits: NamedTraits): Capabilities {
  const { target, edit, react, typing, buttons, media, maxFileBytes, rates } = traits;
  return {
    target,
    idempotentSend: traits.keyed === true,
    typing,
    edit,
    delete: traits.delete,
    react,
    threads: adapter.lockScope !== 'channel',
    ...(adapter.reply !== undefined && { quotes: true as const }),
    buttons,
    streaming: traits.growMs === undefined ? 'none' : 'replace',
    media,
    ...(media.length > 0 && maxFileBytes !== undefined && { maxFileBytes }),
    ...(rates && { rates }),
  };
}

/** An account whose adapter rejects the options; its answers stay in the outbox. */
function createRefusedAccount(
  traits: NamedTraits,
  { report }: Pick<ChannelContext<unknown>, 'report'>,
  reason: string,
): ChannelAdapter {
  return {
    capabilities: {
      ...getCapabilities({}, restrictTraits(traits, {})),
      ...{ idempotentSend: false, buttons: false },
    },
    async start() {
      report({ kind: 'failed', reason, fix: 'Fix this channel\'s "options" in the settings.' });
    },
    async stop() {
      report({ kind: 'stopped' });
    },
    async send() {
      const message = `${traits.platform} is not connected: ${reason}`;
      throw new ChannelError({ kind: 'transient', untried: true }, message);
    },
  };
}
