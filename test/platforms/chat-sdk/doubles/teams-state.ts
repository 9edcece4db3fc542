import { z } from 'zod';
import { Refusal } from './api-server.ts';
import { toVisibleMarkdown } from './visible-markdown.ts';

/** A member of a conversation, as named in activities. */
export interface TeamsPerson {
  readonly id: string;
  readonly name: string;
  readonly aadObjectId: string;
}

/** A file in a message: a picture behind the connector, or a file in the sender's storage. */
export interface TeamsFile {
  readonly kind: 'picture' | 'document';
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A message in a conversation as its readers see it. */
export interface TeamsMessage {
  readonly id: string;
  readonly from: 'bot' | TeamsPerson;
  /** The first message of the thread; only in channels. */
  readonly thread: string | undefined;
  readonly createdAt: Date;
  text: string;
  cards: readonly TeamsCard[];
  attachments: readonly unknown[];
}

/** A conversation by the id that it has without a thread. */
export interface TeamsConversation {
  readonly id: string;
  readonly type: 'personal' | 'groupChat' | 'channel';
  readonly members: Map<string, TeamsPerson>;
  readonly messages: TeamsMessage[];
  hasBot: boolean;
}

const Submit = z.looseObject({
  type: z.enum(['Action.Submit', 'Action.Execute']),
  title: z.string(),
  data: z.looseObject({}).optional(),
  verb: z.string().optional(),
});
const CardAction = z.discriminatedUnion('type', [
  Submit,
  z.looseObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }),
]);
type CardAction = z.infer<typeof CardAction>;
const Element = z.looseObject({
  type: z.enum(['TextBlock', 'Image', 'Container', 'ColumnSet', 'FactSet', 'ActionSet', 'Table']),
  text: z.string().optional(),
  actions: z.array(CardAction).optional(),
  get items() {
    return z.array(Element).optional();
  },
});
const Card = z.looseObject({
  type: z.literal('AdaptiveCard'),
  version: z.string(),
  body: z.array(Element).optional(),
  actions: z.array(CardAction).optional(),
});

/** The visible content of an Adaptive Card. */
export interface TeamsCard {
  readonly text: string;
  readonly buttons: readonly z.infer<typeof Submit>[];
}

const Attachment = z.looseObject({
  contentType: z.string(),
  contentUrl: z.string().optional(),
  content: z.unknown().optional(),
});

/** The content that a bot may send, or replace an earlier message with. */
export const SentActivity = z.looseObject({
  type: z.enum(['message', 'typing']),
  text: z.string().optional(),
  textFormat: z.enum(['plain', 'markdown', 'xml']).optional(),
  attachments: z.array(Attachment).optional(),
});
export type SentActivity = z.infer<typeof SentActivity>;

const CARD = 'application/vnd.microsoft.card.adaptive';
/** The maximum size of a message, in bytes of text and cards; embedded pictures do not count. */
const MAX_MESSAGE_BYTES = 40 * 1_024;

/** @throws Refusal when Teams would not accept this message */
export function readContent(
  activity: SentActivity,
): Pick<TeamsMessage, 'text' | 'cards' | 'attachments'> {
  const { text = '', attachments = [] } = activity;
  if (text.trim() === '' && attachments.length === 0) {
    throw createRefusal(400, 'BadSyntax', 'Activity must contain text or attachments.');
  }
  const contents = attachments.filter(({ contentType }) => contentType === CARD);
  const size = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(contents));
  if (size > MAX_MESSAGE_BYTES)
    throw createRefusal(413, 'MessageSizeTooBig', 'Message size too large.');
  const cards = contents.map(({ content }) => readCard(content));
  return {
    text,
    cards,
    attachments: attachments.filter(({ contentType }) => contentType !== CARD),
  };
}

function readCard(content: unknown): TeamsCard {
  const { data: card, error } = Card.safeParse(content);
  if (card === undefined) throw createRefusal(400, 'BadArgument', `Invalid card: ${error.message}`);
  const texts: string[] = [];
  const actions: CardAction[] = [...(card.actions ?? [])];
  const read = (elements: readonly z.infer<typeof Element>[]) => {
    for (const element of elements) {
      if (element.type === 'TextBlock') texts.push(toVisibleMarkdown(element.text ?? ''));
      actions.push(...(element.actions ?? []));
      read(element.items ?? []);
    }
  };
  read(card.body ?? []);
  const buttons = actions.filter((action) => action.type !== 'Action.OpenUrl');
  return { text: texts.join('\n'), buttons };
}

/** The complete visible text of a message. */
export function getVisibleText({ text, cards }: TeamsMessage): string {
  return [toVisibleMarkdown(text), ...cards.map((card) => card.text)].filter(Boolean).join('\n');
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Conversations, their members and messages. */
export class TeamsState {
  readonly conversations = new Map<string, TeamsConversation>();
  readonly files = new Map<string, TeamsFile>();
  readonly people = new Map<string, TeamsPerson>();
  #lastId = Date.now();

  /** Message ids are times in ms since 1970. */
  newId(): string {
    this.#lastId = Math.max(this.#lastId + 1, Date.now());
    return String(this.#lastId);
  }

  person(name: string): TeamsPerson {
    const known = this.people.get(name);
    if (known !== undefined) return known;
    const person = { id: `29:${name}`, name, aadObjectId: crypto.randomUUID() };
    this.people.set(name, person);
    return person;
  }

  open(id: string, type: TeamsConversation['type'], names: readonly string[]): TeamsConversation {
    const members = new Map(names.map((name) => [`29:${name}`, this.person(name)]));
    const conversation = { id, type, members, messages: [], hasBot: true };
    this.conversations.set(id, conversation);
    return conversation;
  }

  /** @param id with `;messageid=…` for a thread in a channel */
  find(id: string): {
    readonly conversation: TeamsConversation;
    readonly thread: string | undefined;
  } {
    const [base = '', thread] = id.split(';messageid=');
    const conversation = this.conversations.get(base);
    if (conversation === undefined) {
      throw createRefusal(404, 'ConversationNotFound', 'Conversation not found.');
    }
    if (!conversation.hasBot) {
      const reason = 'The bot is not part of the conversation roster.';
      throw createRefusal(403, 'BotNotInConversationRoster', reason);
    }
    return { conversation, thread };
  }

  message(conversation: TeamsConversation, id: string): TeamsMessage {
    const message = conversation.messages.find((one) => one.id === id);
    if (message === undefined) {
      throw createRefusal(404, 'ActivityNotFoundInConversation', 'The activity was not found.');
    }
    return message;
  }
}

export function createRefusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, { error: { code, message } });
}

export function removeMessage({ messages }: TeamsConversation, id: string): void {
  messages.splice(
    messages.findIndex((one) => one.id === id),
    1,
  );
}
