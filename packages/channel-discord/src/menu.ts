import type { ChannelContext, CommandInfo, IngressOutcome, SenderFacts } from '@parley/channels';
import { type InboundMessage, type Logger, reasonOf } from '@parley/core';
import type { DiscordApi, MenuCommand, MessageBody } from './api.ts';
import { displayName, type FindPlace, type GuildAuthor } from './content.ts';
import { readButtonId } from './format.ts';
import { WireInteraction } from './wire.ts';

/** Discord's limits: names, descriptions, commands of an application. */
const NAME = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;
const LONGEST_SUMMARY = 100;
const MOST_COMMANDS = 100;
const TEXT_OPTION = 3;

/** The commands in the form of Discord's menu, each with an optional text. */
export function menuOf(commands: readonly CommandInfo[]): MenuCommand[] {
  const fitting = commands.filter(({ name }) => NAME.test(name));
  return fitting.slice(0, MOST_COMMANDS).map(({ name, summary }) => ({
    name,
    description: [...(summary.trim() === '' ? name : summary)].slice(0, LONGEST_SUMMARY).join(''),
    options: [{ type: TEXT_OPTION, name: 'text', description: 'What to add, if anything' }],
  }));
}

/** Registers the commands unless Discord has them already: it allows 200 changes a day. */
export async function registerMenu(
  api: Pick<DiscordApi, 'menu' | 'setMenu'>,
  applicationId: string,
  commands: readonly CommandInfo[],
): Promise<'same' | 'changed'> {
  const wanted = menuOf(commands);
  const current = await api.menu(applicationId);
  if (sorted(current) === sorted(wanted)) return 'same';
  await api.setMenu(applicationId, wanted);
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

export interface InteractionDeps extends Pick<ChannelContext<unknown>, 'account' | 'receive'> {
  readonly api: Pick<DiscordApi, 'answer' | 'changeAnswer' | 'followUp'>;
  readonly findPlace: FindPlace;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  readonly log: Logger;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const COMMAND = 2;
const PRESS = 3;
/** Discord shows a failure after 3 s; what takes longer than this shows "thinking". In ms. */
const PATIENCE_MS = 1_500;
/** Visible to the sender only. */
const EPHEMERAL = 1 << 6;
/** First answers: a message or "thinking"; for a button nothing, or a change of its message. */
const ANSWER = { message: 4, thinking: 5, nothing: 6, change: 7 } as const;
/** A decided question loses its buttons; its text stays. */
const WITHOUT_BUTTONS: MessageBody = { components: [] };
const FAILED = 'That did not arrive: my memory does not work right now. Please try again.';

type Interaction = WireInteraction & { readonly channel_id: string };

/**
 * Admits a slash command or a pressed button as a message, and acknowledges it within Discord's 3 s. The
 * answer comes by the usual route; what is shown here only the sender sees. Never rejects.
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
  const { channel_id } = interaction;
  const admitting = admit(deps, { ...interaction, channel_id });
  const patience = new AbortController();
  const late = deps.wait(PATIENCE_MS, patience.signal).then(() => undefined);
  const soon = await Promise.race([admitting, late]);
  patience.abort();
  try {
    if (soon !== undefined) await answerNow(deps, interaction, soon);
    else await answerLater(deps, interaction, admitting);
  } catch (thrown) {
    // The message is admitted all the same; only Discord shows that the application was slow.
    deps.log.warn({ reason: reasonOf(thrown) }, 'the interaction was not acknowledged');
  }
}

interface Admitted {
  /** Shown to the sender; null where the answer is enough. */
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
    const text = confirmationOf(outcome, interaction.type, message.text);
    const isPress = interaction.type === PRESS;
    return { text, isSettled: isPress && outcome.kind === 'command' && outcome.settled === true };
  } catch (thrown) {
    deps.log.error({ reason: reasonOf(thrown) }, 'the interaction could not be stored');
    return { text: FAILED };
  }
}

async function inboundOf(
  { account, findPlace }: InteractionDeps,
  interaction: Interaction,
): Promise<InboundMessage | undefined> {
  const { id, channel_id, member, message } = interaction;
  const user = member?.user ?? interaction.user;
  const text = textOf(interaction);
  if (user == null || text === undefined) return undefined;
  const { chat } = await findPlace(channel_id);
  return {
    channel: 'discord',
    account,
    messageId: id,
    chat,
    sender: {
      id: user.id,
      name: displayName(user, member?.nick),
      username: user.username,
      isBot: user.bot === true,
    },
    text,
    ...(message == null ? {} : { replyTo: { messageId: message.id } }),
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

function confirmationOf(outcome: IngressOutcome, type: number, text: string): Admitted['text'] {
  if (outcome.kind === 'refused') return `I may not do that here: ${outcome.reason}.`;
  if (outcome.kind === 'ignored') return `I stay silent: ${outcome.reason}.`;
  return type === COMMAND ? `\`${text.replaceAll('`', "'").slice(0, 200)}\` ✓` : null;
}

/** A snowflake starts with its time, in ms since 2015. */
function timeOf(snowflake: string): number {
  return Number((BigInt(snowflake) >> 22n) + 1_420_070_400_000n);
}

async function answerNow(
  { api, log }: InteractionDeps,
  { id, token, type }: WireInteraction,
  admitted: Admitted,
): Promise<void> {
  const body = firstAnswer(type, admitted);
  try {
    await api.answer(id, token, body);
  } catch (thrown) {
    // An idle connection may be dead; Discord refuses a second answer, it does not show it twice.
    log.debug({ reason: reasonOf(thrown) }, 'the interaction is acknowledged again');
    await api.answer(id, token, body);
  }
}

function firstAnswer(type: number, { text, isSettled }: Admitted): MessageBody {
  if (isSettled) return { type: ANSWER.change, data: WITHOUT_BUTTONS };
  if (type === PRESS && text === null) return { type: ANSWER.nothing };
  return { type: ANSWER.message, data: ephemeral(text ?? '✓') };
}

async function answerLater(
  { api }: InteractionDeps,
  { id, application_id: application, token, type }: WireInteraction,
  admitting: Promise<Admitted>,
): Promise<void> {
  const body =
    type === PRESS
      ? { type: ANSWER.nothing }
      : { type: ANSWER.thinking, data: { flags: EPHEMERAL } };
  await api.answer(id, token, body);
  const { text, isSettled } = await admitting;
  // The first answer of a button is the message it belongs to.
  if (isSettled) await api.changeAnswer(application, token, WITHOUT_BUTTONS);
  else if (type === COMMAND) await api.changeAnswer(application, token, ephemeral(text ?? '✓'));
  else if (text !== null) await api.followUp(application, token, ephemeral(text));
}

function ephemeral(content: string): MessageBody {
  return { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
}
