import {
  type AttachmentFetcher,
  type ChannelAdapter,
  type DeliveryDeps,
  type DeliveryWorker,
  scrubPart,
  startAttachmentFetcher,
  startDeliveryWorker,
} from '@parley/channels';
import { ChannelError, type Logger } from '@parley/contracts';
import type { AccountName, AccountRight } from './account-rights.ts';
import type { AccountDeps } from './make-adapter.ts';

/** An account while it is connected. */
export interface AccountSession {
  readonly mayPreview: DeliveryWorker['mayPreview'];
  /** What was received may have brought files. */
  wakeFiles(): void;
  /** Takes no new messages; what is being stored is stored first. */
  stopReceiving(): Promise<void>;
  /** Ends the deliveries; sends that are under way get `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** What connecting needs besides the adapter. */
export interface ConnectDeps extends AccountDeps {
  readonly name: AccountName;
  /** Of this account. */
  readonly log: Logger;
  readonly right: AccountRight;
  readonly whenUncertain: DeliveryDeps['whenUncertain'];
  readonly othersSend: boolean;
}

const DELIVERY_CONCURRENCY = 50;

/** Connects an account: its platform, its files, its deliveries. */
export async function connectAccount(
  deps: ConnectDeps,
  adapter: ChannelAdapter,
): Promise<AccountSession> {
  await adapter.start();
  const files = startFetching(deps, adapter);
  const delivery = startDelivery(deps, adapter);
  const { right } = deps;
  return {
    mayPreview: delivery.mayPreview,
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
  const { right, name, bus } = deps;
  const { lost, outbox } = right;
  const delivery = {
    ...deps,
    outbox,
    lost,
    capabilities: adapter.capabilities,
    findSent: adapter.findSent,
    notes: adapter.tellsBegun ? deps.sendNotes : undefined,
    send: async (...[part, signal, begun]: Parameters<ChannelAdapter['send']>) => {
      // Whoever has the right now sends this part.
      if (lost.aborted)
        throw new ChannelError(
          { kind: 'transient', untried: true },
          'the account is served elsewhere',
        );
      return adapter.send(scrubPart(part, deps.scrub), signal, begun);
    },
  };
  return startDeliveryWorker(delivery, {
    ...name,
    bus,
    concurrency: DELIVERY_CONCURRENCY,
    sweep: deps.sweeps.of(name, 'parts'),
  });
}
