import type { ChannelContext, IngressOutcome, SenderFacts } from '@parley/channels';
import { type InboundMessage, type Logger, reasonOf } from '@parley/contracts';
import type { GuildAuthor } from './administrators.ts';
import type { DiscordApi, MessageBody } from './discord-api.ts';
import { readButtonId } from './message-body.ts';
import type { FindPlace } from './places.ts';
import { displayName } from './to-inbound.ts';
import { WireInteraction } from './wire.ts';

/** What taking commands and presses needs. */
export interface InteractionDeps extends Pick<ChannelContext<unknown>, 'account' | 'receive'> {
  readonly api: Pick<DiscordApi, 'answer' | 'changeAnswer' | 'followUp'>;
  readonly findPlace: FindPlace;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  readonly log: Logger;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const COMMAND = 2;
const PRESS = 3;
/** Discord shows a failure after 3 s; what takes longer than this is answered by "thinking". In ms. */
const PATIENCE_MS = 1_500;
/** Only the person who asked sees it. */
const EPHEMERAL = 1 << 6;
/** First answers: a message, "thinking"; below a button nothing at all, or its message as it is now. */
const ANSWER = { message: 4, thinking: 5, nothing: 6, change: 7 } as const;
/** What is decided loses its buttons; its words stay. */
const WITHOUT_BUTTONS: MessageBody = { components: [] };
const FAILED = 'That did not arrive: my memory does not work right now. Please try again.';

type Interaction = WireInteraction & { readonly channel_id: string };

/**
 * Takes a slash command or a press on a button as a message, and tells Discord within its 3 s. The real
 * answer comes by the usual route; what is said here only the person sees. Never rejects.
 */
export async function takeInteraction(deps: InteractionDeps, data: unknown): Promise<void> {
  const parsed = WireInteraction.safeParse(data);
  const interaction = parsed.data;
  const known = interaction?.type === COMMAND || interaction?.type === PRESS;
  if (interaction === undefined || !known || interaction.channel_id === undefined) {
    deps.log.debug({ reason: parsed.error?.message }, 'interaction of no use');
    return;
  }
  const { channel_id } = interaction;
  const taking = take(deps, { ...interaction, channel_id });
  const patience = new AbortController();
  const late = deps.wait(PATIENCE_MS, patience.signal).then(() => undefined);
  const soon = await Promise.race([taking, late]);
  patience.abort();
  try {
    if (soon !== undefined) await answerNow(deps, interaction, soon);
    else await answerLater(deps, interaction, taking);
  } catch (thrown) {
    // The message is taken all the same; only Discord shows that the application was slow.
    deps.log.warn({ reason: reasonOf(thrown) }, 'interaction not acknowledged');
  }
}

/** What became of it. */
interface Taken {
  /** For the person; null where the answer says it all. */
  readonly words: string | null;
  /** The question is decided: its buttons do nothing any more. */
  readonly isSettled?: boolean;
}

async function take(deps: InteractionDeps, interaction: Interaction): Promise<Taken> {
  try {
    const message = await inboundOf(deps, interaction);
    if (message === undefined) return { words: 'That button does nothing any more.' };
    const { guild_id: guildId, member } = interaction;
    const facts = deps.factsOf({ guildId, userId: message.sender.id, member });
    const outcome = await deps.receive(message, facts);
    const words = wordsFor(outcome, interaction.type, message.text);
    const isPress = interaction.type === PRESS;
    return { words, isSettled: isPress && outcome.kind === 'command' && outcome.settled === true };
  } catch (thrown) {
    deps.log.error({ reason: reasonOf(thrown) }, 'interaction could not be taken');
    return { words: FAILED };
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

/** `/name words`, or the data of a button. */
function textOf({ type, data }: Interaction): string | undefined {
  if (type === PRESS) return readButtonId(data?.custom_id ?? '');
  if (data?.name === undefined) return undefined;
  const words = (data.options ?? []).map(({ value }) => String(value));
  return [`/${data.name}`, ...words].join(' ');
}

function wordsFor(outcome: IngressOutcome, type: number, text: string): Taken['words'] {
  if (outcome.kind === 'refused') return `I may not do that here: ${outcome.reason}.`;
  if (outcome.kind === 'ignored') return `I stay silent: ${outcome.reason}.`;
  return type === COMMAND ? `\`${text.replaceAll('`', "'").slice(0, 200)}\` ✓` : null;
}

/** Discord's ids begin with the time, in ms since 2015. */
function timeOf(snowflake: string): number {
  return Number((BigInt(snowflake) >> 22n) + 1_420_070_400_000n);
}

async function answerNow(
  { api, log }: InteractionDeps,
  { id, token, type }: WireInteraction,
  taken: Taken,
): Promise<void> {
  const body = firstAnswer(type, taken);
  try {
    await api.answer(id, token, body);
  } catch (thrown) {
    // A connection that had been idle may be dead; twice is refused, not shown twice.
    log.debug({ reason: reasonOf(thrown) }, 'interaction acknowledged once more');
    await api.answer(id, token, body);
  }
}

function firstAnswer(type: number, { words, isSettled }: Taken): MessageBody {
  if (isSettled) return { type: ANSWER.change, data: WITHOUT_BUTTONS };
  if (type === PRESS && words === null) return { type: ANSWER.nothing };
  return { type: ANSWER.message, data: ephemeral(words ?? '✓') };
}

async function answerLater(
  { api }: InteractionDeps,
  { id, application_id: application, token, type }: WireInteraction,
  taking: Promise<Taken>,
): Promise<void> {
  const body =
    type === PRESS
      ? { type: ANSWER.nothing }
      : { type: ANSWER.thinking, data: { flags: EPHEMERAL } };
  await api.answer(id, token, body);
  const { words, isSettled } = await taking;
  // Below a button the first answer is the message that it stands at.
  if (isSettled) await api.changeAnswer(application, token, WITHOUT_BUTTONS);
  else if (type === COMMAND) await api.changeAnswer(application, token, ephemeral(words ?? '✓'));
  else if (words !== null) await api.followUp(application, token, ephemeral(words));
}

function ephemeral(content: string): MessageBody {
  return { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
}
