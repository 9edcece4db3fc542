import {
  type ChannelContext,
  type CommandInfo,
  type CommandUses,
  fitMenu,
  type IngressOutcome,
  isCommand,
  leftOutText,
  type SenderFacts,
} from '@parley/channels';
import { type InboundMessage, type Logger, reasonOf } from '@parley/core';
import type { DiscordApi, MenuCommand, MessageBody } from './api.ts';
import { personOf } from './content.ts';
import { readButtonId, WITHOUT_BUTTONS } from './format.ts';
import type { FindPlace, GuildAuthor } from './places.ts';
import { EPHEMERAL, type Responses, writePlace } from './responses.ts';
import { DISCORD_MENU } from './settings.ts';
import { WireInteraction } from './wire.ts';

const TEXT_OPTION = 3;

/**
 * The commands in the form of Discord's menu, each with an optional text. One command may have 8,000 characters with all
 * its parts; these have at most 160.
 */
export function menuOf(commands: readonly CommandInfo[], uses?: CommandUses): MenuCommand[] {
  const takes = new Map(commands.map((command) => [command.name, command.takes]));
  return fitMenu(commands, DISCORD_MENU, uses).items.map(({ name, description }) => ({
    name,
    description,
    options: [{ type: TEXT_OPTION, name: 'text', description: takes.get(name) || ADDS }],
  }));
}

const ADDS = 'What to add, if anything';

interface RegisterDeps extends Pick<ChannelContext<unknown>, 'commands' | 'tellOwner' | 'log'> {
  readonly api: Pick<DiscordApi, 'menu' | 'setMenu'>;
  readonly commandUses?: (() => Promise<CommandUses>) | undefined;
}

/**
 * Registers the commands unless Discord has them already: it allows 200 changes a day. What its menu has no room for is
 * logged, and told to the owner once.
 */
export async function registerMenu(
  { api, commands, commandUses, tellOwner, log }: RegisterDeps,
  applicationId: string,
): Promise<'same' | 'changed'> {
  const isFull = fitMenu(commands, DISCORD_MENU).leftOut.some(({ why }) => why === 'room');
  const uses = isFull ? await commandUses?.() : undefined;
  const wanted = menuOf(commands, uses);
  const current = await api.menu(applicationId);
  if (sorted(current) === sorted(wanted)) return 'same';
  await api.setMenu(applicationId, wanted);
  const { leftOut } = fitMenu(commands, DISCORD_MENU, uses);
  const text = leftOutText('Discord', leftOut);
  if (text !== null) {
    const left = leftOut.map(({ name }) => name);
    log.warn({ commands: left }, text);
    await tellOwner(
      `menu ${left.join(' ').slice(0, 200)}`,
      `${text} "parley skills" lists them all.`,
    );
  }
  return 'changed';
}

function sorted(commands: readonly MenuCommand[]): string {
  const lines = commands.map(({ name, description, options }) =>
    JSON.stringify([
      name,
      description,
      options.map((option) => [option.type, option.name, option.description]),
    ]),
  );
  return lines.sort().join('\n');
}

export interface InteractionDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'commands'> {
  readonly api: Pick<DiscordApi, 'answer' | 'changeAnswer' | 'dropAnswer' | 'followUp'>;
  readonly responses: Pick<Responses, 'expect'>;
  readonly findPlace: FindPlace;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  readonly log: Logger;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const COMMAND = 2;
const PRESS = 3;
/** Discord shows a failure after 3 s; what takes longer than this shows "thinking". In ms. */
const PATIENCE_MS = 1_500;
/** First answers: a message or "thinking"; for a button nothing, or a change of its message. */
const ANSWER = { message: 4, thinking: 5, nothing: 6, change: 7 } as const;
const FAILED = 'That did not arrive: my memory does not work right now. Please try again.';

type Interaction = WireInteraction & { readonly channel_id: string };

/**
 * Admits a slash command or a pressed button as a message, and acknowledges it within Discord's 3 s. The answer
 * takes the place of "thinking" (`Responses`); what is shown here only the sender sees. Never rejects.
 */
export async function admitInteraction(deps: InteractionDeps, data: unknown): Promise<void> {
  const parsed = WireInteraction.safeParse(data);
  const interaction = parsed.data;
  const known = interaction?.type === COMMAND || interaction?.type === PRESS;
  if (interaction === undefined || !known || interaction.channel_id === undefined) {
    deps.log.debug(
      { reason: parsed.error?.message },
      'the interaction is not in the expected form',
    );
    return;
  }
  const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
  if (interaction.type === COMMAND) deps.responses.expect(interaction.id, acknowledged);
  try {
    await acknowledge(deps, { ...interaction, channel_id: interaction.channel_id });
  } catch (thrown) {
    // The message is admitted all the same; only Discord shows that the application was slow.
    deps.log.warn({ reason: reasonOf(thrown) }, 'the interaction was not acknowledged');
  } finally {
    resolve();
  }
}

async function acknowledge(deps: InteractionDeps, interaction: Interaction): Promise<void> {
  const admitting = admit(deps, interaction);
  const patience = new AbortController();
  const late = deps.wait(PATIENCE_MS, patience.signal).then(() => undefined);
  const soon = await Promise.race([admitting, late]);
  patience.abort();
  const isPrivate = isPrivateCommand(deps.commands, interaction);
  if (soon === undefined) return answerLater(deps, interaction, isPrivate, admitting);
  return answerNow(deps, interaction, firstAnswer(interaction.type, soon, isPrivate));
}

/** Whether the answer is for the sender alone. In a direct chat it is anyway, and lasts. */
function isPrivateCommand(commands: readonly CommandInfo[], interaction: Interaction): boolean {
  if (interaction.type !== COMMAND || interaction.guild_id === undefined) return false;
  const own = commands.filter((command) => command.private);
  return isCommand(textOf(interaction) ?? '', own);
}

interface Admitted {
  /** Shown to the sender instead of an answer; null where one comes. */
  readonly text: string | null;
  /** The question is decided: its buttons have no effect any more. */
  readonly isSettled?: boolean;
}

async function admit(deps: InteractionDeps, interaction: Interaction): Promise<Admitted> {
  try {
    const message = await inboundOf(deps, interaction);
    if (message === undefined) return { text: 'That button does nothing any more.' };
    const { guild_id: guildId, member } = interaction;
    const facts = deps.factsOf({ guildId, userId: message.sender.id, member });
    const outcome = await deps.receive(message, facts);
    const text = silenceOf(outcome);
    const isPress = interaction.type === PRESS;
    return { text, isSettled: isPress && outcome.kind === 'command' && outcome.settled === true };
  } catch (thrown) {
    deps.log.error({ reason: reasonOf(thrown) }, 'the interaction could not be stored');
    return { text: FAILED };
  }
}

async function inboundOf(
  { account, commands, findPlace }: InteractionDeps,
  interaction: Interaction,
): Promise<InboundMessage | undefined> {
  const { id, channel_id, member, message, application_id: application, token } = interaction;
  const user = member?.user ?? interaction.user;
  const text = textOf(interaction);
  if (user == null || text === undefined) return undefined;
  const { chat } = await findPlace(channel_id);
  const only = isPrivateCommand(commands, interaction) ? { only: user.id } : {};
  return {
    channel: 'discord',
    account,
    messageId: id,
    chat,
    sender: personOf(user, member, user.bot === true),
    text,
    // Typed behind a command, or a press of a button of this bot.
    authored: { text: true },
    ...(message == null ? {} : { replyTo: { messageId: message.id } }),
    ...(interaction.type === PRESS && message != null && { pressed: message.id }),
    ...(interaction.type === COMMAND && { response: writePlace({ application, token, ...only }) }),
    mentions: [],
    addressed: true,
    sentAt: timeOf(id),
    variables: {},
  };
}

/** `/name text`, or the data of a button. */
function textOf({ type, data }: Interaction): string | undefined {
  if (type === PRESS) return readButtonId(data?.custom_id ?? '');
  if (data?.name === undefined) return undefined;
  const values = (data.options ?? []).map(({ value }) => String(value));
  return [`/${data.name}`, ...values].join(' ');
}

function silenceOf(outcome: IngressOutcome): Admitted['text'] {
  if (outcome.kind === 'refused') return `I may not do that here: ${outcome.reason}.`;
  return outcome.kind === 'ignored' ? `I stay silent: ${outcome.reason}.` : null;
}

/** A snowflake starts with its time, in ms since 2015. */
function timeOf(snowflake: string): number {
  return Number((BigInt(snowflake) >> 22n) + 1_420_070_400_000n);
}

async function answerNow(
  { api, log }: InteractionDeps,
  { id, token }: Interaction,
  body: MessageBody,
): Promise<void> {
  try {
    await api.answer(id, token, body);
  } catch (thrown) {
    // An idle connection may be dead; Discord refuses a second answer, it does not show it twice.
    log.debug({ reason: reasonOf(thrown) }, 'the interaction is acknowledged again');
    await api.answer(id, token, body);
  }
}

function firstAnswer(type: number, { text, isSettled }: Admitted, isPrivate: boolean): MessageBody {
  if (isSettled) return { type: ANSWER.change, data: WITHOUT_BUTTONS };
  if (text !== null) return { type: ANSWER.message, data: ephemeral(text) };
  return type === PRESS ? { type: ANSWER.nothing } : thinking(isPrivate);
}

function thinking(isPrivate: boolean): MessageBody {
  return { type: ANSWER.thinking, data: { flags: isPrivate ? EPHEMERAL : 0 } };
}

async function answerLater(
  { api }: InteractionDeps,
  { id, application_id: application, token, type }: Interaction,
  isPrivate: boolean,
  admitting: Promise<Admitted>,
): Promise<void> {
  await api.answer(id, token, type === PRESS ? { type: ANSWER.nothing } : thinking(isPrivate));
  const { text, isSettled } = await admitting;
  // The first answer of a button is the message it belongs to.
  if (isSettled) await api.changeAnswer(application, token, WITHOUT_BUTTONS);
  if (text === null) return;
  if (type === COMMAND) await api.dropAnswer(application, token);
  await api.followUp(application, token, ephemeral(text));
}

function ephemeral(content: string): MessageBody {
  return { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
}
