import {
  type ChannelContext,
  type CommandInfo,
  type IngressOutcome,
  isCommand,
  type SenderFacts,
} from '@parley/channels';
import { type InboundMessage, type Logger, reasonOf } from '@parley/core';
import type { DiscordApi, MessageBody } from './api.ts';
import { createInputForm, parsePress, removeButtons } from './component-layout.ts';
import { toSender } from './content.ts';
import { findInteractionLocation, isSharedChat } from './interaction-location.ts';
import { ASK } from './menu.ts';
import type { FindChatDetails, GuildAuthor } from './places.ts';
import { EPHEMERAL, type InteractionResponder, serializeResponseTarget } from './responses.ts';
import { WireInteraction } from './wire-interaction.ts';
import { WireMessageIds } from './wire-message.ts';

export interface InteractionDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'ignored' | 'commands' | 'clock'> {
  readonly api: Pick<DiscordApi, 'answer' | 'changeAnswer' | 'dropAnswer' | 'followUp'>;
  readonly responses: Pick<InteractionResponder, 'expect' | 'pressed'>;
  readonly findPlace: FindChatDetails;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  /** Called when the adapter begins to serve a direct chat. */
  readonly served: (channelId: string, interactionId: string) => Promise<void>;
  readonly log: Logger;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const [COMMAND, PRESS, FORM] = [2, 3, 5];
/** The time (ms) after which an interaction shows "thinking"; Discord shows a failure after 3 s. */
const TIMEOUT_MS = 1_500;
/**
 * Types of initial responses: a message, "thinking", no visible response to a button, a change to
 * the button's message, or a form.
 */
const ANSWER = { message: 4, thinking: 5, nothing: 6, change: 7, form: 9 } as const;
const FAILED = "I couldn't receive that: my memory isn't working right now. Please try again.";

type ChannelInteraction = WireInteraction & { readonly channel_id: string };

/**
 * Admits a slash command, a pressed button, a choice or a completed form as a message, and
 * acknowledges it within Discord's limit of 3 s. The answer replaces "thinking"
 * (`InteractionResponder`). Only the sender can see error messages sent from here. Never rejects.
 */
export async function admitInteraction(deps: InteractionDeps, data: unknown): Promise<void> {
  const interaction = await parseInteraction(deps, data);
  if (interaction === undefined) return;
  const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
  deps.responses.expect(interaction.id, acknowledged);
  try {
    await acknowledgeInteraction(deps, interaction);
  } catch (thrown) {
    // The message is admitted anyway, although Discord shows that the application did not respond.
    deps.log.warn({ reason: reasonOf(thrown) }, 'the interaction was not acknowledged');
  } finally {
    resolve();
  }
}

/** Parses an interaction; undefined if it cannot be handled, which is recorded for `why`. */
async function parseInteraction(
  deps: InteractionDeps,
  data: unknown,
): Promise<ChannelInteraction | undefined> {
  const { log, clock } = deps;
  const { data: read, error } = WireInteraction.safeParse(data);
  if (read === undefined) {
    log.warn({ reason: error?.message }, 'the interaction is not in the expected form');
    const { data: ids } = WireMessageIds.safeParse(data);
    if (ids !== undefined)
      await recordIgnoredInteraction(
        deps,
        { chatId: ids.channel_id, messageId: ids.id, at: clock() },
        'an interaction in an unknown form',
      );
    return undefined;
  }
  const channel_id = read.channel_id ?? read.channel?.id;
  const isKnown = read.type === COMMAND || read.type === PRESS || read.type === FORM;
  if (isKnown && channel_id !== undefined) return { ...read, channel_id };
  const { id: messageId, member, user } = read;
  const senderId = (member?.user ?? user)?.id;
  const chatId = channel_id ?? senderId ?? messageId;
  const what = isKnown ? 'without a channel' : `of type ${read.type}`;
  log.warn({ messageId }, `an interaction ${what} is not handled`);
  const event = { chatId, messageId, senderId, at: clock() };
  await recordIgnoredInteraction(deps, event, `an interaction ${what}, which is not handled`);
  return undefined;
}

/**
 * Records an interaction that does not start a turn, so that `why` can explain it. Never rejects.
 */
async function recordIgnoredInteraction(
  { log, ignored }: InteractionDeps,
  event: Parameters<InteractionDeps['ignored']>[0],
  reason: string,
): Promise<void> {
  await ignored(event, reason).catch((thrown: unknown) =>
    log.warn({ reason: reasonOf(thrown) }, 'an interaction could not be recorded'),
  );
}

async function acknowledgeInteraction(
  deps: InteractionDeps,
  interaction: ChannelInteraction,
): Promise<void> {
  const pressed = interaction.type === PRESS ? parsePress(interaction.data ?? {}) : undefined;
  // A form can only be sent as the initial response. The input of a form arrives as a separate
  // interaction.
  if (pressed?.kind === 'asks') {
    return answerNow(deps, interaction, { type: ANSWER.form, data: createInputForm(pressed) });
  }
  const { id, type, channel_id, application_id: application, token } = interaction;
  // After a command, the token can only replace the command's own "thinking", so commands are not
  // recorded here.
  if (type !== COMMAND) deps.responses.pressed(channel_id, { id, application, token });
  const admitting = tryAdmitInteraction(deps, interaction);
  const patience = new AbortController();
  const late = deps.wait(TIMEOUT_MS, patience.signal).then(() => undefined);
  const soon = await Promise.race([admitting, late]);
  patience.abort();
  const isPrivate = isPrivateCommand(deps.commands, interaction);
  if (soon === undefined) return answerWhenAdmitted(deps, interaction, isPrivate, admitting);
  return answerNow(deps, interaction, createFirstAnswer(interaction, soon, isPrivate));
}

/**
 * Whether only the sender may see the answer. Everything in a direct chat is private anyway, so the
 * answer stays visible there.
 */
function isPrivateCommand(
  commands: readonly CommandInfo[],
  interaction: ChannelInteraction,
): boolean {
  if (interaction.type !== COMMAND || !isSharedChat(interaction)) return false;
  const own = commands.filter((command) => command.private);
  return isCommand(getInteractionText(commands, interaction) ?? '', own);
}

interface AdmittedInteraction {
  /** The text shown to the sender instead of an answer; null if an answer follows. */
  readonly text: string | null;
  /** Whether the request has been decided, so that its buttons have no effect anymore. */
  readonly isSettled?: boolean;
}

async function tryAdmitInteraction(
  deps: InteractionDeps,
  interaction: ChannelInteraction,
): Promise<AdmittedInteraction> {
  try {
    const message = await interactionToInbound(deps, interaction);
    if (message === undefined) {
      const { id: messageId, channel_id: chatId, member, user } = interaction;
      const event = { chatId, messageId, senderId: (member?.user ?? user)?.id, at: deps.clock() };
      await recordIgnoredInteraction(deps, event, 'the pressed button no longer does anything');
      return { text: 'That button no longer works.' };
    }
    const { guild_id: guildId, member } = interaction;
    const facts = deps.factsOf({ guildId, userId: message.sender.id, member });
    const outcome = await deps.receive(message, facts);
    if (message.chat.type === 'direct' && outcome.kind !== 'refused')
      await deps.served(interaction.channel_id, interaction.id);
    const text = explainMissingAnswer(outcome);
    const isPress = interaction.message !== undefined && interaction.type !== COMMAND;
    return { text, isSettled: isPress && outcome.kind === 'command' && outcome.settled === true };
  } catch (thrown) {
    deps.log.error({ reason: reasonOf(thrown) }, 'the interaction could not be stored');
    return { text: FAILED };
  }
}

async function interactionToInbound(
  { account, commands, findPlace }: InteractionDeps,
  interaction: ChannelInteraction,
): Promise<InboundMessage | undefined> {
  const { id, type, member, message } = interaction;
  const user = member?.user ?? interaction.user;
  const text = getInteractionText(commands, interaction);
  if (user === undefined || text === undefined) return undefined;
  const { chat, isBound } = await findInteractionLocation(interaction, findPlace);
  const response = createResponse(interaction, user.id, {
    isBound,
    isPrivate: isPrivateCommand(commands, interaction),
  });
  return {
    channel: 'discord',
    account,
    messageId: id,
    chat,
    sender: toSender(user, member, user.bot === true),
    text,
    // The text was typed with a command or into a form, or it comes from one of this bot's buttons
    // that the person pressed.
    authored: { text: true },
    ...(message === undefined ? {} : { replyTo: { messageId: message.id } }),
    ...(type !== COMMAND && message !== undefined && { pressed: message.id }),
    ...(response !== undefined && { response }),
    mentions: [],
    addressed: true,
    sentAt: decodeSnowflakeMs(id),
    variables: {},
  };
}

/**
 * The location to which the answer is sent. The answer to a command replaces "thinking". A button
 * press is answered by an ordinary message, unless the bot cannot send one or only the sender can
 * see the button's message.
 */
function createResponse(
  { type, application_id: application, token, message }: ChannelInteraction,
  person: string,
  { isBound, isPrivate }: { readonly isBound: boolean; readonly isPrivate: boolean },
): string | undefined {
  const bound = isBound && { bound: true as const };
  if (type === COMMAND) {
    return serializeResponseTarget({
      application,
      token,
      ...(isPrivate && { only: person }),
      ...bound,
    });
  }
  const isAlone = ((message?.flags ?? 0) & EPHEMERAL) !== 0;
  if (!isBound && !isAlone) return undefined;
  const place = { application, token, further: true as const, ...bound };
  return serializeResponseTarget({ ...place, ...(isAlone && { only: person }) });
}

/**
 * The text of an interaction: `/name text`, only the text for `/ask`, or the text of a button, a
 * choice or a form.
 */
function getInteractionText(
  commands: readonly CommandInfo[],
  { type, data }: ChannelInteraction,
): string | undefined {
  if (type !== COMMAND) {
    const pressed = parsePress(data ?? {});
    return pressed?.kind === 'wrote' ? pressed.text : undefined;
  }
  if (data?.name === undefined) return undefined;
  const values = (data.options ?? []).flatMap(listOptionWords);
  const isAsk = data.name === ASK.name && !commands.some(({ name }) => name === ASK.name);
  return isAsk ? values.join(' ') : [`/${data.name}`, ...values].join(' ');
}

interface CommandOption {
  readonly name: string;
  readonly value?: string | number | boolean | undefined;
  readonly options?: readonly CommandOption[];
}

/** The entered values; for a subcommand, its name and its values. */
function listOptionWords({ name, value, options = [] }: CommandOption): string[] {
  return value === undefined ? [name, ...options.flatMap(listOptionWords)] : [String(value)];
}

function explainMissingAnswer(outcome: IngressOutcome): AdmittedInteraction['text'] {
  if (outcome.kind === 'refused') return `I'm not allowed to do that here: ${outcome.reason}.`;
  return outcome.kind === 'ignored' ? `I won't answer here: ${outcome.reason}.` : null;
}

/** The creation time encoded in a snowflake, which counts ms since 2015. */
function decodeSnowflakeMs(snowflake: string): number {
  return Number((BigInt(snowflake) >> 22n) + 1_420_070_400_000n);
}

async function answerNow(
  { api, log }: InteractionDeps,
  { id, token }: ChannelInteraction,
  body: MessageBody,
): Promise<void> {
  try {
    await api.answer(id, token, body);
  } catch (thrown) {
    // A first attempt may have failed because the idle connection was dead. A second response is
    // safe, because Discord refuses it instead of showing it twice.
    log.debug({ reason: reasonOf(thrown) }, 'retrying the acknowledgment of an interaction');
    await api.answer(id, token, body);
  }
}

function createFirstAnswer(
  { type, message }: ChannelInteraction,
  { text, isSettled }: AdmittedInteraction,
  isPrivate: boolean,
): MessageBody {
  if (isSettled && message !== undefined) {
    return { type: ANSWER.change, data: removeButtons(message) };
  }
  if (text !== null) return { type: ANSWER.message, data: createEphemeralBody(text) };
  return type === COMMAND ? createThinkingBody(isPrivate) : createConfirmation(message);
}

/** A form that does not belong to a message needs a visible confirmation. */
function createConfirmation(message: ChannelInteraction['message']): MessageBody {
  return message === undefined
    ? { type: ANSWER.message, data: createEphemeralBody('Received.') }
    : { type: ANSWER.nothing };
}

function createThinkingBody(isPrivate: boolean): MessageBody {
  return { type: ANSWER.thinking, data: { flags: isPrivate ? EPHEMERAL : 0 } };
}

async function answerWhenAdmitted(
  { api }: InteractionDeps,
  { id, application_id: application, token, type, message }: ChannelInteraction,
  isPrivate: boolean,
  admitting: Promise<AdmittedInteraction>,
): Promise<void> {
  await api.answer(
    id,
    token,
    type === COMMAND ? createThinkingBody(isPrivate) : createConfirmation(message),
  );
  const { text, isSettled } = await admitting;
  // For a button, the initial response is the button's own message.
  if (isSettled && message !== undefined)
    await api.changeAnswer(application, token, removeButtons(message));
  if (text === null) return;
  if (type === COMMAND) await api.dropAnswer(application, token);
  await api.followUp(application, token, createEphemeralBody(text));
}

function createEphemeralBody(content: string): MessageBody {
  return { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
}
