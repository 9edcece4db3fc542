import type { MessageType } from 'discord-api-types/v10';

/**
 * Who writes messages of this type: people and bots, or the platform itself, with the reason for
 * ignoring the message.
 */
export type MessageKind =
  | { readonly kind: 'written' }
  | { readonly kind: 'notice'; readonly what: string };

/** The name for a message of a type that Discord introduced later. */
export const NEW_KIND = 'a message of a kind that is new on Discord';

const WRITTEN = { kind: 'written' } as const;
const notice = (what: string) => ({ kind: 'notice', what }) as const;

/**
 * How every message type is handled. If a new version of Discord's types adds a message type, this
 * does not compile until the type is listed here.
 */
const MESSAGE_TYPES: Readonly<Record<MessageType, MessageKind>> = {
  0: WRITTEN,
  1: notice('a person was added to the group'),
  2: notice('a person left the group'),
  3: notice('a call'),
  4: notice('the chat has a new name'),
  5: notice('the chat has a new picture'),
  6: notice('a message was pinned'),
  7: notice('a member joined the server'),
  8: notice('a member boosted the server'),
  9: notice('the server reached level 1'),
  10: notice('the server reached level 2'),
  11: notice('the server reached level 3'),
  12: notice('the channel follows another one'),
  14: notice('the server is not in the directory any more'),
  15: notice('the server is in the directory again'),
  16: notice('the server may lose its place in the directory'),
  17: notice('the server will lose its place in the directory'),
  18: notice('a thread was started'),
  19: WRITTEN,
  20: WRITTEN,
  21: notice('the copy of the message that a thread was started from'),
  22: notice('a reminder to invite people'),
  23: WRITTEN,
  24: notice('a rule of the server blocked a message'),
  25: notice('a member subscribed to a role'),
  26: notice('an advertisement for an app'),
  27: notice('a stage was opened'),
  28: notice('a stage was closed'),
  29: notice('a member speaks on a stage'),
  30: notice('a member asks to speak on a stage'),
  31: notice('a stage has a new topic'),
  32: notice('the server subscribed to an app'),
  36: notice('security actions were switched on'),
  37: notice('security actions were switched off'),
  38: notice('a raid was reported'),
  39: notice('a report of a raid was a false alarm'),
  44: notice('a member bought something'),
  46: notice('a poll ended'),
};

/** Returns how a type is handled; undefined for a type that Discord introduced later. */
export function findMessageKind(type: number): MessageKind | undefined {
  return Object.hasOwn(MESSAGE_TYPES, type) ? MESSAGE_TYPES[type as MessageType] : undefined;
}
