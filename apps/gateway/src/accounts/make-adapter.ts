import { randomBytes } from 'node:crypto';
import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelState,
  CODE_LENGTH,
  COMMANDS,
  chatHistory,
  createIngress,
  guardAdapter,
  type OnFault,
  oneTimeCode,
  parseCommand,
  type Revision,
  undeclared,
} from '@parley/channels';
import { fromOutside, type Logger } from '@parley/contracts';
import { wakeDeliveryOn } from '@parley/queue';
import type { Store } from '@parley/store';
import type { AccountDeps, AccountPlan } from '../channel-account.ts';
import { GatewayError } from '../gateway-error.ts';

/** What an adapter of an account is made with. */
export interface AdapterDeps extends AccountDeps {
  /** Of this account. */
  readonly log: Logger;
  /** Other gateways may serve the account at the same time. */
  readonly isShared: boolean;
  /** What was received, or changed, may have brought files. */
  readonly wakeFiles: () => void;
  readonly report: (state: ChannelState) => void;
  /** Hears of what the adapter throws where no caller waits. */
  readonly onFault: OnFault;
}

/**
 * Makes an adapter that is not connected yet and ties it to an ingress. The platform library is loaded
 * here and not before. Rejects when the adapter cannot be made.
 */
export async function makeAdapter(deps: AdapterDeps, plan: AccountPlan): Promise<ChannelAdapter> {
  const { definition, account, settings } = plan;
  const channel = definition.id;
  const { store, log, clock, wakeFiles } = deps;
  const deliver = wakeDeliveryOn(deps.bus);
  const receive = createIngress({
    ...deps,
    lanes: deps.turns,
    deliver: (to) => deliver(to.channel, to.account, to.chatId),
    answersStrangers: definition.answersStrangers ?? true,
    newCode: () => oneTimeCode(randomBytes(CODE_LENGTH)),
    rules: plan.rules,
  });
  const context: ChannelContext<unknown> = {
    account,
    settings,
    log,
    clock,
    isShared: deps.isShared,
    values: store.adapterValues(channel, account),
    receive: async (message, sender) => {
      const outcome = await receive(message, adapter.capabilities, sender);
      if (message.attachments) wakeFiles();
      return outcome;
    },
    revise: async (change) => {
      await revise(store, { channel, account }, change);
      wakeFiles();
    },
    commands: [...COMMANDS, ...((await deps.skillCommands?.('others')) ?? [])],
    report: deps.report,
    history: (chatId, limit) => chatHistory(store, { channel, account, chatId }, limit),
  };
  const connect = await definition.load();
  const adapter = guardAdapter(connect, context, deps.onFault);
  keepsItsWord(channel, adapter);
  return adapter;
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
  // Who may use a command is decided when it arrives; an edit cannot bring one in behind that.
  if (message.chat.type !== 'direct' && parseCommand(message.text) !== null) return;
  await inbox.revise({ ...place, chatId: message.chat.id, messageId: message.messageId }, message);
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
