import { expect } from 'vitest';
import { waitUntilConnected } from '../../e2e/channel-states.ts';
import { startParleyInProcess, type TestParley } from '../../e2e/parley-here.ts';
import {
  makeDataFolder,
  type ParleyProcess,
  startParleyProcess,
} from '../../e2e/parley-process.ts';
import { getMessageText } from '../../model/chat-request.ts';
import {
  type HeldAnswer,
  HeldAnswers,
  type ModelDouble,
  startModelDouble,
} from '../../model/index.ts';
import type { ChatLocation, PersonMessage, PlatformPeer, VisibleMessage } from './peer.ts';
import { createScriptedAnswer } from './scripted-answers.ts';

/**
 * Connects Parley to one platform and a model on loopback, and offers the actions that the tests
 * need.
 */
export interface ChannelScene {
  readonly peer: PlatformPeer;
  readonly model: ModelDouble;
  /** Asks for an answer as a person; in groups this mentions the bot. */
  ask(place: ChatLocation, text: string, saying?: Partial<PersonMessage>): Promise<string>;
  /** Writes exactly this text as a person. */
  say(place: ChatLocation, text: string, saying?: Partial<PersonMessage>): Promise<string>;
  /** All of the bot's visible messages in this location. */
  answers(place: ChatLocation): readonly VisibleMessage[];
  /** Waits until the bot's messages in a location contain this text, and returns them. */
  until(place: ChatLocation, text: string, withinMs?: number): Promise<readonly VisibleMessage[]>;
  /** Asks a question and waits for the answer, which repeats the question. */
  exchange(
    place: ChatLocation,
    text: string,
    saying?: Partial<PersonMessage>,
  ): Promise<readonly VisibleMessage[]>;
  /**
   * Waits for an answer that contains this text, then for the next answer in that chat, which
   * proves that the first came only once.
   */
  once(place: ChatLocation, text: string, withinMs?: number): Promise<void>;
  /** The last user message of each model request that contains a text, oldest first. */
  asked(text: string): readonly string[];
  /** Holds back the answer to the question that ends with this text. */
  hold(text: string): HeldAnswer;
  /** Continues in a separate process, which a signal can end. */
  moveApart(): Promise<void>;
  /** Ends Parley: a separate process by the signal, otherwise an orderly shutdown as on SIGTERM. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Restarts Parley in the test process. */
  start(): Promise<void>;
  /** Every message from the bot that mentions another location. */
  leaks(): readonly string[];
  close(): Promise<void>;
}

/** A deadline in ms that suffices on a busy machine. */
const WITHIN_MS = 60_000;

/** Starts everything with open access; in groups, Parley answers when the bot is mentioned. */
export async function startScene(makePeer: () => Promise<PlatformPeer>): Promise<ChannelScene> {
  const [peer, model] = await Promise.all([makePeer(), startModelDouble()]);
  const held = new HeldAnswers();
  model.reply(async ({ messages }) => {
    const last = messages.at(-1);
    const question = getMessageText(last);
    await held.pass(question);
    if (last?.role === 'tool') return `The tool said: ${question}`;
    return createScriptedAnswer(question);
  });
  const folder = makeDataFolder({
    owners: [peer.owner],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 100 },
    // Some channels accept only short messages, and long answers must still arrive completely.
    limits: { answer: { messages: 100 } },
    // Provides a tool call that needs approval.
    approvals: { ask: ['current_time'] },
    http: { port: 0 },
    channels: { [peer.channel]: { ...peer.settings, access: { direct: 'open', groups: 'open' } } },
  });
  let parley: TestParley | undefined;
  let apart: ParleyProcess | undefined;
  const places = new Map<string, ChatLocation>();
  const connect = async (started: TestParley) => {
    parley = started;
    await peer.link?.(started);
    await waitUntilConnected(started);
  };
  const start = async () => {
    const { channels = [] } = peer;
    await connect(await startParleyInProcess(folder.path, { channels }));
  };
  await start();
  const answers = (place: ChatLocation) => peer.seen(place).filter(({ from }) => from === 'bot');
  const say: ChannelScene['say'] = (place, text, saying) => {
    places.set(place.id, place);
    return peer.say(place, { text: `${getTag(place)} ${text}`, ...saying });
  };
  const ask: ChannelScene['ask'] = (place, text, saying) =>
    say(place, text, { mention: place.kind !== 'direct', ...saying });
  const until: ChannelScene['until'] = (place, text, withinMs = WITHIN_MS) =>
    peer.waitFor(() => {
      const all = answers(place);
      return all.some((each) => each.text.includes(text)) && all;
    }, withinMs);
  const exchange: ChannelScene['exchange'] = async (place, text, saying) => {
    await ask(place, text, saying);
    return until(place, text);
  };
  return {
    peer,
    model,
    ask,
    say,
    answers,
    until,
    exchange,
    async once(place, text, withinMs) {
      await until(place, text, withinMs);
      // The messages of a chat are handled in order, so an answer to a later message proves that
      // the earlier one is finished.
      await exchange(place, 'something else');
      expect(answers(place).filter((seen) => seen.text.includes(text))).toHaveLength(1);
    },
    asked: (text) =>
      model.requests
        .map(({ body }) => getMessageText(body.messages.at(-1)))
        .filter((question) => question.includes(text)),
    hold: (text) => held.hold(text),
    async moveApart() {
      await parley?.end();
      apart = await startParleyProcess(folder.path, peer.program);
      await connect(apart);
    },
    async stop(signal) {
      await (apart?.end(signal) ?? parley?.end());
      apart = undefined;
      parley = undefined;
    },
    start,
    leaks: () =>
      [...places.values()].flatMap((place) =>
        answers(place).flatMap(({ text }) =>
          [...text.matchAll(/\bplace-\w+-\d+\b/g)]
            .filter(([tag]) => tag !== getTag(place))
            .map(([tag]) => `${place.id} received text of ${tag}`),
        ),
      ),
    async close() {
      await parley?.discard();
      await Promise.all([peer.close(), model.close()]);
      folder.remove();
    },
  };
}

/**
 * A word that occurs in every question from a location, and therefore only in that location's
 * answers.
 */
function getTag({ id, kind }: ChatLocation): string {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  return `place-${kind}-${hash}`;
}
