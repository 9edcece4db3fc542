import { randomBytes } from 'node:crypto';
import {
  type AttachmentFetcher,
  type ChannelAdapter,
  type ChannelContext,
  type ChannelState,
  type ChatsCapability,
  CODE_LENGTH,
  COMMANDS,
  checkAdapter,
  checkSenderFacts,
  checkState,
  createIgnoredRecorder,
  createIngress,
  createOneTimeCode,
  createReactionReceiver,
  createSkippedRecorder,
  type DecisionRules,
  type DeliveryDeps,
  type DeliveryWorker,
  findShapeProblems,
  findUndeclaredCapabilities,
  guardAdapter,
  hasFreeSpace,
  type IngressDeps,
  type OnFault,
  performAction,
  readChatHistory,
  scrubPart,
  startAttachmentFetcher,
  startDeliveryWorker,
  withPartFile,
} from '@parley/channels';
import {
  type AdapterValues,
  ChannelError,
  type Defects,
  formatInlineCode,
  type LiveEvent,
  type Logger,
  ParleyError,
  reasonOf,
  toLiteralMarkdown,
} from '@parley/core';
import { createWakeDelivery } from '@parley/queue';
import { GatewayError } from '../gateway-error.ts';
import type { AccountDeps, AccountPlan } from './account.ts';
import type { AccountName, AccountRight } from './account-rights.ts';
import { reviseMessage } from './revise-message.ts';
import { notifyOwner, sortDefaultFirst } from './tell-owner.ts';

export interface AdapterDeps extends AccountDeps {
  readonly log: Logger;
  /** Returns the ingress rules from the current settings. */
  readonly rules: () => DecisionRules;
  /** Whether other gateways may serve the account at the same time. */
  readonly isShared: boolean;
  /** Wakes the attachment fetcher after a new or changed message, which may contain files. */
  readonly wakeFiles: () => void;
  /** The values that the adapter stores; it may write them while this gateway holds the account. */
  readonly values: AdapterValues;
  readonly holdsAccount: () => boolean;
  readonly report: (state: ChannelState) => void;
  /** Counts adapter results that violate the channel contract. */
  readonly defects: Defects;
  /** Called with errors that the adapter throws where no caller is waiting for them. */
  readonly onFault: OnFault;
}

/**
 * Creates an adapter, not yet connected, and attaches it to an ingress. The platform's library is
 * loaded only here. Rejects if the adapter cannot be created.
 */
export async function createAdapter(deps: AdapterDeps, plan: AccountPlan): Promise<ChannelAdapter> {
  const { definition, account, settings } = plan;
  const channel = definition.id;
  const { store, log, clock, monotonic, wakeFiles } = deps;
  const deliver = createWakeDelivery(deps.bus);
  const ingress: IngressDeps = {
    ...deps,
    lanes: deps.turns,
    deliver: (to) => deliver(to.channel, to.account, to.chatId),
    answersStrangers: definition.answersStrangers ?? true,
    newCode: (length = CODE_LENGTH) => createOneTimeCode(randomBytes(length), length),
    get rules() {
      return deps.rules();
    },
  };
  const receive = createIngress(ingress);
  // In the built-in front ends, only the owner sees commands; a platform shows its command list to
  // everyone.
  const audience = definition.servedByAll ? 'owner' : 'others';
  const context: ChannelContext<unknown> = {
    account,
    settings,
    log,
    clock,
    monotonic,
    isShared: deps.isShared,
    values: deps.values,
    holdsAccount: deps.holdsAccount,
    receive: async (message, sender, files) => {
      const facts = checkSenderFacts(sender, deps.defects);
      const outcome = await createDefectCounter(deps, 'receive', () =>
        receive(message, adapter.capabilities, facts, files),
      );
      if (message.attachments) wakeFiles();
      return outcome;
    },
    skipped: createSkippedRecorder(ingress),
    ignored: createIgnoredRecorder(ingress, { channel, account }),
    revise: async (change) => {
      await createDefectCounter(deps, 'revise', () =>
        reviseMessage(store, { channel, account }, change),
      );
      wakeFiles();
    },
    reacted: createReactionReceiver(ingress),
    message: (chatId, messageId) =>
      store.reactions.message({ channel, account, chatId, messageId }),
    commands: [...COMMANDS, ...((await deps.skillCommands?.(audience)) ?? [])],
    commandUses: store.inbox.typedCommands,
    notifyOwner: (key, markdown) => notifyOwner(deps, `${channel}/${account} ${key}`, markdown),
    report: (reported) => {
      const state = checkState(reported, deps.defects);
      if (state === undefined) return;
      deps.report(state);
      if (state.kind === 'failed') void notifyOwnerOfFailure(deps, `${channel}/${account}`, state);
    },
    history: (chatId, limit) => readChatHistory(store, { channel, account, chatId }, limit),
    answer: (chatId, messageId) => store.answers.of({ channel, account, chatId, messageId }),
    chats: definition.servedByAll ? createChatsCapability(deps, { channel, account }) : undefined,
  };
  const connect = await definition.load();
  const guarded = guardAdapter(connect, context, deps.onFault);
  assertShape(channel, guarded);
  const adapter = checkAdapter(guarded, deps.defects);
  assertCapabilities(channel, adapter);
  return adapter;
}

/**
 * Counts messages and changes that violate the channel contract, and reports each violation to the
 * adapter.
 */
async function createDefectCounter<Result>(
  { defects }: Pick<AdapterDeps, 'defects'>,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isBroken = error instanceof ParleyError && error.code === 'inbound-invalid';
    if (isBroken)
      defects.note(
        what,
        'the message does not match the channel contract; see the log for details',
      );
    throw error;
  }
}

/**
 * Sends at most one notice per day and reason, through an account other than the failed account.
 */
export async function notifyOwnerOfFailure(
  deps: Pick<AccountDeps, 'store' | 'bus' | 'clock' | 'log'>,
  name: string,
  { reason, fix }: Extract<ChannelState, { kind: 'failed' }>,
): Promise<void> {
  try {
    const chats = sortDefaultFirst(await deps.store.inbox.ownerChats());
    const elsewhere = chats.find(({ route }) => `${route.channel}/${route.account}` !== name);
    if (elsewhere === undefined) return;
    const day = new Date(deps.clock()).toISOString().slice(0, 10);
    const key = `failed ${name} ${day} ${reason}`;
    await notifyOwner(
      deps,
      key,
      `${formatInlineCode(name)} is not working: ${toLiteralMarkdown(`${reason}. ${fix}`)}`,
      elsewhere,
    );
  } catch (error) {
    deps.log.warn({ reason: reasonOf(error) }, 'could not notify the owner about a failed account');
  }
}

const LISTED_CHATS = 200;

/** Events that may change the list of conversations, or of items that wait for a person. */
const CHANGES: ReadonlySet<LiveEvent['type']> = new Set([
  ...(['turn-started', 'turn-ended', 'stop-turn'] as const),
  ...(['message-waiting', 'delivery-due', 'inbox-changed'] as const),
]);

function createChatsCapability(
  { store, media, clock, bus }: AdapterDeps,
  account: AccountName,
): ChatsCapability {
  const { inbox, attachments } = store;
  return {
    media,
    hasRoom: (needed, person) =>
      hasFreeSpace(
        { attachments, limits: media, clock },
        needed,
        person === null ? null : { ...account, person },
      ),
    list: async () =>
      (await inbox.chats(account, LISTED_CHATS)).map(
        ({ chatId, conversationId, first, ...times }) => ({
          id: chatId,
          conversation: conversationId,
          first: first.typed ?? first.text,
          ...times,
        }),
      ),
    onChange: (listener) => bus.subscribe(({ type }) => CHANGES.has(type) && listener()),
    calls: (turnIds) => store.turns.calls(turnIds),
    sentFile: (chatId, partId) => store.agentFiles.ofChat({ ...account, chatId }, partId),
    file: (chatId, messageId, index) =>
      attachments.ofChat({ ...account, chatId, messageId }, index),
  };
}

/** Throws GatewayError if the created object is not an adapter. */
function assertShape(channel: string, adapter: unknown): void {
  const problems = findShapeProblems(adapter);
  if (problems.length === 0) return;
  throw new GatewayError(
    'adapter-shape',
    `The ${channel} channel did not create a valid adapter: ${problems.join('; ')}. This is a bug in the channel.`,
  );
}

/**
 * Throws GatewayError if the adapter does not match its declared capabilities, which is a bug in
 * the adapter.
 */
function assertCapabilities(channel: string, adapter: ChannelAdapter): void {
  const differences = findUndeclaredCapabilities(adapter);
  if (differences.length === 0) return;
  throw new GatewayError(
    'adapter-undeclared',
    `The ${channel} adapter does not match its declared capabilities: ${differences.join('; ')}. This is a bug in the channel.`,
  );
}

export interface AccountSession {
  readonly mayPreview: DeliveryWorker['mayPreview'];
  /** Wakes the attachment fetcher after a received message, which may contain files. */
  wakeFiles(): void;
  /** Stops receiving. Resolves when all messages in progress are stored. */
  stopReceiving(): Promise<void>;
  /** Ends deliveries. Sends in progress may take up to `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The dependencies of a connection, except for the adapter. */
export interface ConnectDeps extends AccountDeps {
  readonly name: AccountName;
  readonly log: Logger;
  readonly right: AccountRight;
  /** Aborted when the adapter has failed; the adapter is not called after this. */
  readonly fault: AbortSignal;
  readonly whenUncertain: DeliveryDeps['whenUncertain'];
  readonly othersSend: boolean;
}

const DELIVERY_CONCURRENCY = 50;

/** Connects an account to its platform and starts its downloads and deliveries. */
export async function connectAccount(
  deps: ConnectDeps,
  adapter: ChannelAdapter,
): Promise<AccountSession> {
  await adapter.start();
  const files = startFetching(deps, adapter);
  const delivery = startDelivery(deps, adapter);
  const { right } = deps;
  return {
    mayPreview: (chat) => right.isHeld() && delivery.mayPreview(chat),
    wakeFiles: () => files.wake(),
    async stopReceiving() {
      await files.close();
      await adapter.stop();
    },
    close: (graceMs) => delivery.close(graceMs, right.isShared ? 'hand-over' : undefined),
  };
}

function startFetching(deps: ConnectDeps, { files }: ChannelAdapter): AttachmentFetcher {
  const { store, turns: lanes, media: limits, clock, log, name } = deps;
  const { attachments } = store;
  return startAttachmentFetcher(
    { attachments, files, lanes, limits, clock, log },
    { ...name, sweep: deps.sweeps.of(name, 'files') },
  );
}

function startDelivery(deps: ConnectDeps, adapter: ChannelAdapter): DeliveryWorker {
  const { right, fault, name, bus } = deps;
  const { lost, outbox } = right;
  const delivery = {
    ...deps,
    outbox,
    lost,
    capabilities: adapter.capabilities,
    findSent: adapter.findSent,
    chatName: adapter.chatName,
    notes: adapter.reportsStart ? deps.sendNotes : undefined,
    notifyOwner: (key: string, markdown: string) =>
      notifyOwner(deps, `${name.channel}/${name.account} ${key}`, markdown),
    send: async (...[part, signal, onStart]: Parameters<ChannelAdapter['send']>) => {
      // The message part is left for the right's next holder, or for the next adapter.
      if (!right.isHeld())
        throw createTransientError('another gateway is serving this account now');
      if (fault.aborted) throw createTransientError('the adapter failed and is being stopped');
      const { agentFiles } = deps.store;
      return withPartFile(
        { agentFiles, capabilities: adapter.capabilities, scrub: deps.scrub },
        scrubPart(part, deps.scrub),
        (whole) =>
          whole.act === undefined
            ? adapter.send(whole, signal, onStart)
            : performAction(adapter, whole),
      );
    },
  };
  return startDeliveryWorker(delivery, {
    ...name,
    bus,
    concurrency: DELIVERY_CONCURRENCY,
    sweep: deps.sweeps.of(name, 'parts'),
  });
}

function createTransientError(reason: string): ChannelError {
  return new ChannelError({ kind: 'transient', untried: true }, reason);
}
