import type { ChangeNotifier } from '../changes.ts';
import type { FaultName, Platform, PlatformFeatures, SimulatedCall } from './world.ts';

/**
 * The platform-specific part of a simulator. People, chats and messages have the platform's own ids
 * in this interface.
 */
export interface PlatformBackend {
  readonly platform: Platform;
  readonly bot: string;
  /** The settings for a Parley account that connects to this platform. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly changes: ChangeNotifier;
  readonly can: PlatformFeatures;
  readonly faults: Partial<Record<FaultName, (aim: FaultAim) => void>>;
  addPerson(name: string, nth: number): string;
  directChat(person: string): string;
  addGroup(title: string, members: readonly string[]): string;
  addThread?(group: string, title: string, from: string): string;
  setBot(place: PlatformLocation, isIn: boolean): void;
  /** Resolves with the id of the message, if it has one. */
  say(saying: PlatformPersonMessage): string | undefined | Promise<string | undefined>;
  edit(chat: string, message: string, from: string, text: string): unknown;
  delete?(chat: string, message: string, from: string): unknown;
  react(reaction: PlatformReaction): unknown;
  press?(chat: string, message: string, from: string, label: string): unknown;
  clearFaults(): void;
  messages(chat: string): readonly PlatformMessage[];
  isTyping(chat: string): boolean;
  /** The notice that one person received about their latest button press in the chat. */
  notice?(chat: string): PlatformNotice | undefined;
  commands(): readonly { readonly name: string; readonly description: string }[];
  calls(): readonly SimulatedCall[];
  close(): Promise<void>;
}

export interface FaultAim {
  readonly chat?: string | undefined;
  readonly seconds: number;
  readonly times: number;
}

export interface PlatformNotice {
  readonly to: string;
  readonly text: string;
  readonly at: number;
}

export interface PlatformLocation {
  readonly chat: string;
  readonly kind: 'direct' | 'group' | 'thread';
}

export interface PlatformPersonMessage {
  readonly chat: string;
  readonly from: string;
  readonly text: string;
  readonly mention: boolean;
  readonly replyTo?: string | undefined;
  readonly file?:
    | { readonly name: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
    | undefined;
}

export interface PlatformReaction {
  readonly chat: string;
  readonly message: string;
  readonly from: string;
  readonly emoji: string;
  readonly gone: boolean;
}

export interface PlatformFile {
  readonly name: string;
  readonly type: string;
  read(): Uint8Array | Promise<Uint8Array>;
}

export interface PlatformMessage {
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
  readonly files: readonly PlatformFile[];
  readonly buttons: readonly string[];
  /** Emoji and the keys of those who added them: `bot` or a person. */
  readonly reactions: readonly (readonly [emoji: string, by: string])[];
  readonly violations: readonly string[];
}

/** The maximum number of recent bot calls in the world. */
export const SHOWN_CALLS = 80;
