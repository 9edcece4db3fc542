import { randomBytes } from 'node:crypto';
import {
  type AttachmentFetcher,
  type ChannelAdapter,
  type ChannelDefinition,
  type ChannelState,
  CODE_LENGTH,
  COMMANDS,
  chatHistory,
  createIngress,
  type DecisionRules,
  type DeliveryWorker,
  type Desks,
  type MediaLimits,
  oneTimeCode,
  type Revision,
  type Situation,
  type SkillCommands,
  startAttachmentFetcher,
  startDeliveryWorker,
  undeclared,
} from '@parley/channels';
import {
  type Clock,
  fromOutside,
  type LiveBus,
  type Logger,
  type Meter,
  type PassPoint,
  reasonOf,
} from '@parley/contracts';
import type { Queues } from '@parley/queue';
import type { Store } from '@parley/store';
import { GatewayError } from './gateway-error.ts';

/** One account of one channel, as `parley status` and the start banner show it. */
export interface AccountStatus {
  readonly channel: string;
  readonly account: string;
  readonly state: ChannelState;
}

/** A connected account: its adapter, its ingress and its deliveries. */
export interface ChannelAccount {
  readonly channel: string;
  readonly account: string;
  readonly adapter: ChannelAdapter;
  status(): AccountStatus;
  /** Takes no new messages; what is being stored is stored first. */
  stopReceiving(): Promise<void>;
  /** Ends the deliveries; sends that are under way get `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** What every account of a gateway shares. */
export interface AccountDeps {
  readonly store: Store;
  readonly queues: Queues;
  readonly bus: LiveBus;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pass: PassPoint;
  readonly situation: () => Situation;
  /** The commands of skills; absent: there are none. */
  readonly skillCommands?: SkillCommands | undefined;
  /** For `/memory`, `/soul` and the like. */
  readonly desks?: Desks | undefined;
  readonly media: MediaLimits;
  /** Hears how each account is doing, whenever that changes. */
  readonly onState?: (status: AccountStatus) => void;
}

/** Which account to open, with its checked settings and the rules of its ingress. */
export interface AccountPlan {
  readonly definition: ChannelDefinition;
  readonly account: string;
  readonly settings: unknown;
  readonly rules: DecisionRules;
}

const DELIVERY_CONCURRENCY = 50;
const SWEEP_MS = 5_000;

/**
 * Opens one account: adapter, ingress, delivery. The platform library is loaded here and not before.
 * Rejects when the adapter cannot be made; a platform that is down is told through its state instead.
 */
export async function openAccount(deps: AccountDeps, plan: AccountPlan): Promise<ChannelAccount> {
  const { definition, account } = plan;
  const channel = definition.id;
  const log = deps.log.child({ channel, account });
  let state: ChannelState = { kind: 'starting' };
  let files: AttachmentFetcher | undefined;
  const receive = createIngress({
    ...deps,
    log,
    lanes: deps.queues.lanes,
    deliver: (to) => deps.queues.deliveries(to.channel, to.account).kick(to.chatId),
    answersStrangers: definition.answersStrangers ?? true,
    newCode: () => oneTimeCode(randomBytes(CODE_LENGTH)),
    rules: plan.rules,
  });
  const connect = await definition.load();
  const adapter: ChannelAdapter = connect({
    account,
    settings: plan.settings,
    log,
    clock: deps.clock,
    values: deps.store.adapterValues(channel, account),
    receive: async (message) => {
      const outcome = await receive(message, adapter.capabilities);
      if (message.attachments) files?.wake();
      return outcome;
    },
    revise: async (revision) => {
      await revise(deps.store, { channel, account }, revision);
      files?.wake();
    },
    commands: [...COMMANDS, ...((await deps.skillCommands?.('others')) ?? [])],
    report: (next) => {
      state = next;
      tell(log, next);
      deps.onState?.({ channel, account, state });
    },
    history: (chatId, limit) => chatHistory(deps.store, { channel, account, chatId }, limit),
  });
  keepsItsWord(channel, adapter);
  await adapter.start();
  files = startFetching(deps, adapter, { channel, account, log });
  const delivery = await startDelivery(deps, adapter, { channel, account, log });
  return {
    channel,
    account,
    adapter,
    status: () => ({ channel, account, state }),
    async stopReceiving() {
      await files?.close();
      await adapter.stop();
    },
    async close(graceMs) {
      await Promise.all([files?.close(), delivery.close(graceMs)]);
    },
  };
}

async function revise(
  { inbox }: Pick<Store, 'inbox'>,
  place: { readonly channel: string; readonly account: string },
  revision: Revision,
): Promise<void> {
  if (revision.kind === 'deleted') {
    const { chatId, messageId } = revision;
    await inbox.revise({ ...place, chatId, messageId }, null);
    return;
  }
  const message = fromOutside(revision.message);
  await inbox.revise({ ...place, chatId: message.chat.id, messageId: message.messageId }, message);
}

function startFetching(
  { store, queues, media, clock }: AccountDeps,
  adapter: ChannelAdapter,
  { channel, account, log }: { channel: string; account: string; log: Logger },
): AttachmentFetcher {
  const { attachments } = store;
  const { files } = adapter;
  return startAttachmentFetcher(
    { attachments, files, lanes: queues.lanes, limits: media, clock, log },
    { channel, account, sweepMs: SWEEP_MS },
  );
}

function startDelivery(
  deps: AccountDeps,
  adapter: ChannelAdapter,
  { channel, account, log }: { channel: string; account: string; log: Logger },
): Promise<DeliveryWorker> {
  const delivery = {
    ...deps,
    log,
    outbox: deps.store.outbox,
    capabilities: adapter.capabilities,
    send: adapter.send.bind(adapter),
  };
  const queue = deps.queues.deliveries(channel, account);
  return startDeliveryWorker(delivery, {
    channel,
    account,
    queue,
    concurrency: DELIVERY_CONCURRENCY,
    sweepMs: SWEEP_MS,
  });
}

function tell(log: Logger, state: ChannelState): void {
  if (state.kind === 'failed')
    log.error({ reason: state.reason, mend: state.mend }, 'channel failed');
  else if (state.kind === 'retrying') log.warn({ reason: state.reason }, 'channel retries');
  else log.info({ state: state.kind, ...('as' in state ? { as: state.as } : {}) }, 'channel');
}

/** Throws GatewayError when facets and capabilities differ: a defect of the adapter. */
function keepsItsWord(channel: string, adapter: ChannelAdapter): void {
  const differences = undeclared(adapter);
  if (differences.length === 0) return;
  throw new GatewayError(
    'adapter-undeclared',
    `The adapter of ${channel} does not do what it declares: ${differences.join('; ')}. This is a defect of the adapter.`,
  );
}

/** The status of an account that could not even be opened. */
export function brokenStatus(channel: string, account: string, thrown: unknown): AccountStatus {
  const mend = 'Mend the settings of this channel and start Parley again.';
  return { channel, account, state: { kind: 'failed', reason: reasonOf(thrown), mend } };
}
