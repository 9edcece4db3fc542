import type { ChangeNotifier } from '../changes.ts';
import type { FaultName, Platform, PlatformAbilities, SimulatedCall } from './world.ts';

/**
 * The platform-specific part of a simulator. People, chats and messages have the platform's own ids
 * in this interface.
 */
export interface PlatformSide {
  readonly platform: Platform;
  readonly bot: string;
  /** The settings for a Parley account that connects to this platform. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly changes: ChangeNotifier;
  readonly can: PlatformAbilities;
  readonly faults: Partial<Record<FaultName, (aim: FaultAim) => void>>;
  addPerson(name: string, nth: number): string;
  directChat(person: string): string;
  addGroup(title: string, members: readonly string[]): string;
  addThread?(group: string, title: string, from: string): string;
  setBot(place: LocationOnPlatform, isIn: boolean): void;
  /** Resolves with the id of the message, if it has one. */
  say(saying: PersonMessageOnPlatform): string | undefined | Promise<string | undefined>;
  edit(chat: string, message: string, from: string, text: string): unknown;
  delete?(chat: string, message: string, from: string): unknown;
  react(reaction: ReactionOnPlatform): unknown;
  press?(chat: string, message: string, from: string, label: string): unknown;
  clearFaults(): void;
  messages(chat: string): readonly MessageOnPlatform[];
  isTyping(chat: string): boolean;
  /** The notice that one person received about their latest button press in the chat. */
  notice?(chat: string): NoticeOnPlatform | undefined;
  commands(): readonly { readonly name: string; readonly description: string }[];
  calls(): readonly SimulatedCall[];
  close(): Promise<void>;
}

export interface FaultAim {
  readonly chat?: string | undefined;
  readonly seconds: number;
  readonly times: number;
}

export interface NoticeOnPlatform {
  readonly to: string;
  readonly text: string;
  readonly at: number;
}

export interface LocationOnPlatform {
  readonly chat: string;
  readonly kind: 'direct' | 'group' | 'thread';
}

export interface PersonMessageOnPlatform {
  readonly chat: string;
  readonly from: string;
  readonly text: string;
  readonly mention: boolean;
  readonly replyTo?: string | undefined;
  readonly file?:
    | { readonly name: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
    | undefined;
}

export interface ReactionOnPlatform {
  readonly chat: string;
  readonly message: string;
  readonly from: string;
  readonly emoji: string;
  readonly gone: boolean;
}

export interface FileOnPlatform {
  readonly name: string;
  readonly type: string;
  read(): Uint8Array | Promise<Uint8Array>;
}

export interface MessageOnPlatform {
  readonly id: string;
  readonly from: 'bot' | string;
  readonly at: number;
  readonly text: string;
  readonly html: string;
  readonly isEdited: boolean;
  readonly isDeleted?: boolean;
  readonly isGrowing?: boolean;
  readonly onlyFor?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly files: readonly FileOnPlatform[];
  readonly buttons: readonly string[];
  /** Emoji and the keys of those who added them: `bot` or a person. */
  readonly reactions: readonly (readonly [emoji: string, by: string])[];
  readonly violations: readonly string[];
}

/** The maximum number of recent bot calls in the world. */
export const SHOWN_CALLS = 80;
