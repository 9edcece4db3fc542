import { z } from 'zod';
import { Refusal } from './api-server.ts';
import { toVisibleChatText } from './visible-chat.ts';
import { toVisibleMarkdown } from './visible-markdown.ts';

/** A person or an app as named in messages. */
export interface ChatUser {
  readonly name: string;
  readonly displayName: string;
  readonly type: 'HUMAN' | 'BOT';
}

/** A file uploaded to a message by a person. */
export interface ChatFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A message in a space. */
export interface ChatMessage {
  /** `spaces/<space>/messages/<thread>.<id>`; the first message of a thread has the same id twice. */
  readonly name: string;
  readonly thread: string;
  readonly sender: ChatUser;
  readonly createTime: string;
  lastUpdateTime: string | undefined;
  text: string;
  /** How clients read the text: as Chat's own syntax, or as Markdown. */
  syntax: 'chat' | 'markdown';
  cards: readonly ChatCard[];
  readonly mentionsApp: boolean;
  readonly files: readonly (ChatFile & { readonly resourceName: string })[];
  readonly reactions: {
    readonly name: string;
    readonly user: ChatUser;
    readonly unicode: string;
  }[];
}

/** A space: a direct chat, a group chat, or a room with threads. */
export interface ChatSpace {
  readonly name: string;
  readonly type: 'DIRECT_MESSAGE' | 'GROUP_CHAT' | 'SPACE';
  readonly members: Map<string, ChatUser>;
  readonly messages: ChatMessage[];
  hasApp: boolean;
}

const Action = z.looseObject({
  function: z.string(),
  parameters: z.array(z.looseObject({ key: z.string(), value: z.string() })).optional(),
});
const Button = z.looseObject({
  text: z.string(),
  onClick: z.looseObject({
    action: Action.optional(),
    openLink: z.looseObject({ url: z.string() }).optional(),
  }),
});
const Widget = z.looseObject({
  textParagraph: z.looseObject({ text: z.string() }).optional(),
  buttonList: z.looseObject({ buttons: z.array(Button) }).optional(),
});
const CardV2 = z.looseObject({
  cardId: z.string().optional(),
  card: z.looseObject({
    header: z.looseObject({ title: z.string() }).optional(),
    sections: z.array(z.looseObject({ widgets: z.array(Widget).min(1).max(100) })),
  }),
});

/** The visible content of a card, with the action of each button. */
export interface ChatCard {
  readonly text: string;
  readonly buttons: readonly z.infer<typeof Button>[];
}

/** The content that an app may send or change. */
export const SentMessage = z.looseObject({
  text: z.string().optional(),
  cardsV2: z.array(CardV2).optional(),
  thread: z.looseObject({ name: z.string().optional() }).optional(),
  /** New apps are configured for Markdown, so messages without a setting are read as Markdown. */
  markupSyntax: z.enum(['MARKUP_SYNTAX_CHAT', 'MARKUP_SYNTAX_MARKDOWN']).optional(),
});
type SentMessage = z.infer<typeof SentMessage>;

/** The maximum size of a message with its cards, in bytes. */
const MAX_MESSAGE_BYTES = 32_000;

/** @throws Refusal when Google Chat would not accept this message */
export function readContent(sent: SentMessage): Pick<ChatMessage, 'text' | 'syntax' | 'cards'> {
  const { text = '', cardsV2 = [], markupSyntax } = sent;
  if (text.trim() === '' && cardsV2.length === 0) {
    throw createRefusal(400, 'INVALID_ARGUMENT', 'Message cannot be empty.');
  }
  const size = Buffer.byteLength(text) + (cardsV2.length > 0 ? sizeOf(cardsV2) : 0);
  if (size > MAX_MESSAGE_BYTES)
    throw createRefusal(400, 'INVALID_ARGUMENT', 'Message is too long.');
  const syntax = markupSyntax === 'MARKUP_SYNTAX_CHAT' ? 'chat' : 'markdown';
  return { text, syntax, cards: cardsV2.map(readCard) };
}

const sizeOf = (content: unknown) => Buffer.byteLength(JSON.stringify(content));

function readCard({ card }: z.infer<typeof CardV2>): ChatCard {
  const widgets = card.sections.flatMap((section) => section.widgets);
  const paragraphs = widgets.flatMap(({ textParagraph }) => textParagraph?.text ?? []);
  const texts = [card.header?.title ?? '', ...paragraphs.map(removeTags)];
  const buttons = widgets.flatMap(({ buttonList }) => buttonList?.buttons ?? []);
  return { text: texts.filter(Boolean).join('\n'), buttons };
}

/** Card paragraphs are formatted with a few HTML tags. */
function removeTags(html: string): string {
  const text = html.replaceAll(/<br\s*\/?>/g, '\n').replaceAll(/<\/?[a-z][^>]*>/gi, '');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** The complete visible text of a message. */
export function getVisibleMessage({ text, syntax, cards }: ChatMessage): string {
  const shown = syntax === 'chat' ? toVisibleChatText(text) : toVisibleMarkdown(text);
  return [shown, ...cards.map((card) => card.text)].filter(Boolean).join('\n');
}

/** A button that calls the app. */
interface PressableButton {
  readonly text: string;
  readonly action: z.infer<typeof Action>;
}

/** The buttons of a message that call the app; other buttons open a page. */
export function listPressableButtons({ cards }: ChatMessage): readonly PressableButton[] {
  return cards.flatMap(({ buttons }) =>
    buttons.flatMap(({ text, onClick }) =>
      onClick.action ? [{ text, action: onClick.action }] : [],
    ),
  );
}

/** Spaces, their members and messages. */
export class GoogleChatState {
  readonly spaces = new Map<string, ChatSpace>();
  readonly #users = new Map<string, ChatUser>();
  #next = 0;

  newId(): string {
    this.#next += 1;
    return `m${String(this.#next).padStart(6, '0')}`;
  }

  user(id: string, type: ChatUser['type'] = 'HUMAN'): ChatUser {
    const name = `users/${id}`;
    const user = this.#users.get(name) ?? { name, displayName: id, type };
    this.#users.set(name, user);
    return user;
  }

  open(id: string, type: ChatSpace['type'], people: readonly string[]): ChatSpace {
    const members = new Map(people.map((one) => [`users/${one}`, this.user(one)]));
    const space: ChatSpace = { name: `spaces/${id}`, type, members, messages: [], hasApp: true };
    this.spaces.set(space.name, space);
    return space;
  }

  find(name: string): ChatSpace {
    const space = this.spaces.get(name);
    if (space === undefined) throw createRefusal(404, 'NOT_FOUND', 'Space not found.');
    if (!space.hasApp)
      throw createRefusal(403, 'PERMISSION_DENIED', 'The app is not a member of it.');
    return space;
  }

  message(space: ChatSpace, name: string): ChatMessage {
    const message = space.messages.find((one) => one.name === name);
    if (message === undefined) throw createRefusal(404, 'NOT_FOUND', 'Message not found.');
    return message;
  }

  /** @param thread the name of the thread; undefined starts a new one */
  add(
    space: ChatSpace,
    thread: string | undefined,
    message: Omit<ChatMessage, 'name' | 'thread' | 'createTime' | 'lastUpdateTime' | 'reactions'>,
  ): ChatMessage {
    const id = this.newId();
    const threadId = thread?.split('/').at(-1) ?? id;
    const added = {
      ...message,
      name: `${space.name}/messages/${threadId}.${id}`,
      thread: `${space.name}/threads/${threadId}`,
      createTime: new Date().toISOString(),
      lastUpdateTime: undefined,
      reactions: [],
    };
    space.messages.push(added);
    return added;
  }

  showSpace({ name, type }: ChatSpace): object {
    const isDirect = type === 'DIRECT_MESSAGE';
    return {
      ...{ name, spaceType: type, type: isDirect ? 'DM' : 'ROOM' },
      ...(isDirect ? { singleUserBotDm: true } : { displayName: `The space ${name}` }),
      spaceThreadingState: type === 'SPACE' ? 'THREADED_MESSAGES' : 'UNTHREADED_MESSAGES',
    };
  }

  /** A message in the format of the API; events for the app include the whole space. */
  show(message: ChatMessage, space: object, app: ChatUser): object {
    const { name, thread, sender, createTime, lastUpdateTime, text, mentionsApp, files } = message;
    const at = `@${app.displayName}`;
    const mention = { type: 'USER_MENTION', startIndex: 0, length: at.length };
    return {
      ...{ name, sender, createTime, text, formattedText: text },
      ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }),
      ...{ thread: { name: thread }, space },
      ...(mentionsApp
        ? {
            argumentText: text.slice(at.length),
            annotations: [{ ...mention, userMention: { user: app, type: 'MENTION' } }],
          }
        : { argumentText: text }),
      ...(files.length > 0 ? { attachment: files.map((file) => showFile(name, file)) } : {}),
    };
  }
}

function showFile(message: string, { name, type, resourceName }: ChatMessage['files'][number]) {
  return {
    name: `${message}/attachments/${resourceName}`,
    contentName: name,
    contentType: type,
    attachmentDataRef: { resourceName },
    downloadUri: `https://chat.google.com/api/get_attachment_url?id=${resourceName}`,
    source: 'UPLOADED_CONTENT',
  };
}

export function createRefusal(code: number, status: string, message: string): Refusal {
  return new Refusal(code, { error: { code, message, status } });
}
