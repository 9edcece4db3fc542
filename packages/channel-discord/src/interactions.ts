import type { ChannelContext, IngressOutcome } from '@parley/channels';
import { type InboundMessage, type Logger, reasonOf } from '@parley/contracts';
import type { DiscordApi, MessageBody } from './discord-api.ts';
import { readButtonId } from './message-body.ts';
import type { FindPlace } from './places.ts';
import { displayName } from './to-inbound.ts';
import { WireInteraction } from './wire.ts';

/** What taking commands and presses needs. */
export interface InteractionDeps extends Pick<ChannelContext<unknown>, 'account' | 'receive'> {
  readonly api: Pick<DiscordApi, 'answer' | 'changeAnswer' | 'followUp'>;
  readonly findPlace: FindPlace;
  readonly log: Logger;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const COMMAND = 2;
const PRESS = 3;
/** Discord shows a failure after 3 s; what takes longer than this is answered by "thinking". In ms. */
const PATIENCE_MS = 1_500;
/** Only the person who asked sees it. */
const EPHEMERAL = 1 << 6;
/** First answers: a message, "thinking", nothing at all (below a button). */
const ANSWER = { message: 4, thinking: 5, nothing: 6 } as const;
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

/** What became of it, in words for the person; null where the answer says it all. */
type Words = string | null;

async function take(deps: InteractionDeps, interaction: Interaction): Promise<Words> {
  try {
    const message = await inboundOf(deps, interaction);
    if (message === undefined) return 'That button does nothing any more.';
    return wordsFor(await deps.receive(message), interaction.type, message.text);
  } catch (thrown) {
    deps.log.error({ reason: reasonOf(thrown) }, 'interaction could not be taken');
    return FAILED;
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

function wordsFor(outcome: IngressOutcome, type: number, text: string): Words {
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
  words: Words,
): Promise<void> {
  const nothing = type === PRESS && words === null;
  const body = nothing
    ? { type: ANSWER.nothing }
    : { type: ANSWER.message, data: ephemeral(words ?? '✓') };
  try {
    await api.answer(id, token, body);
  } catch (thrown) {
    // A connection that had been idle may be dead; twice is refused, not shown twice.
    log.debug({ reason: reasonOf(thrown) }, 'interaction acknowledged once more');
    await api.answer(id, token, body);
  }
}

async function answerLater(
  { api }: InteractionDeps,
  { id, application_id: application, token, type }: WireInteraction,
  taking: Promise<Words>,
): Promise<void> {
  const body =
    type === PRESS
      ? { type: ANSWER.nothing }
      : { type: ANSWER.thinking, data: { flags: EPHEMERAL } };
  await api.answer(id, token, body);
  const words = await taking;
  if (type === COMMAND) await api.changeAnswer(application, token, ephemeral(words ?? '✓'));
  else if (words !== null) await api.followUp(application, token, ephemeral(words));
}

function ephemeral(content: string): MessageBody {
  return { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
}
