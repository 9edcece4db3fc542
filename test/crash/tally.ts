import type { ChannelName, ObservedChat } from './side.ts';
import type { EndedPart } from './stored.ts';
import { type ConversationVerdict, judgeConversation } from './verdict.ts';
import { findStretches, reportsUncertainty } from './words.ts';

/** The results for the questions of a channel. */
export interface ChannelTally extends ConversationVerdict {
  readonly conversations: number;
  readonly questions: number;
  /**
   * Parts of answers for which Parley itself reports that it does not know whether they arrived.
   */
  readonly uncertain: number;
  /** The uncertain parts that people received, so the notice was unnecessary. */
  readonly needless: number;
  /** The uncertain parts whose chat got no notice; a duplicate notice is harmless. */
  readonly untold: number;
  /** Parts that were given up as refused; the expected number is zero. */
  readonly failed: number;
}

/** The tally before anything is counted. */
export const NOTHING: ChannelTally = {
  conversations: 0,
  questions: 0,
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  misdirected: 0,
  uncertain: 0,
  needless: 0,
  untold: 0,
  failed: 0,
  faults: [],
};

/** The counts that the chats are compared with. */
export interface TallyRecords {
  /** The number of questions that each person asked. */
  readonly asked: ReadonlyMap<number, number>;
  /** The database records of parts that were not sent. */
  readonly ended: readonly EndedPart[];
}

/** Compares what the people of a channel see with what they asked. */
export function tallyChannel(
  channel: ChannelName,
  chats: readonly ObservedChat[],
  { asked, ended }: TallyRecords,
): ChannelTally {
  const ours = ended.filter((part) => part.channel === channel);
  return chats.map((chat) => tallyChat(chat, asked, ours)).reduce(addTallies, NOTHING);
}

function tallyChat(
  chat: ObservedChat,
  askedBy: ReadonlyMap<number, number>,
  ended: readonly EndedPart[],
): ChannelTally {
  const ours = ended.filter(({ chatId }) => chatId === chat.chatId);
  const uncertain = ours.filter(({ state, kind }) => state === 'unknown' && kind === 'answer');
  const told = chat.texts.filter(reportsUncertainty).length;
  const asked = new Map(chat.senders.map((sender) => [sender, askedBy.get(sender) ?? 0]));
  return {
    ...judgeConversation({
      asked,
      heard: chat.texts.flatMap(findStretches),
      uncertain: uncertain.flatMap(({ text }) => findStretches(text)),
    }),
    conversations: 1,
    questions: [...asked.values()].reduce((sum, count) => sum + count, 0),
    uncertain: uncertain.length,
    needless: uncertain.filter(({ text }) => isSeen(text, chat.texts)).length,
    untold: Math.max(0, uncertain.length - told),
    failed: ours.filter(({ state }) => state === 'failed').length,
  };
}

function isSeen(part: string, texts: readonly string[]): boolean {
  const seen = texts.flatMap(findStretches).map(({ reply, part: nth }) => `${reply}.${nth}`);
  return findStretches(part).some(({ reply, part: nth }) => seen.includes(`${reply}.${nth}`));
}

/** Adds each count separately. */
export function addTallies(one: ChannelTally, other: ChannelTally): ChannelTally {
  return {
    conversations: one.conversations + other.conversations,
    questions: one.questions + other.questions,
    lost: one.lost + other.lost,
    doubled: one.doubled + other.doubled,
    outOfOrder: one.outOfOrder + other.outOfOrder,
    misdirected: one.misdirected + other.misdirected,
    uncertain: one.uncertain + other.uncertain,
    needless: one.needless + other.needless,
    untold: one.untold + other.untold,
    failed: one.failed + other.failed,
    faults: [...one.faults, ...other.faults],
  };
}
