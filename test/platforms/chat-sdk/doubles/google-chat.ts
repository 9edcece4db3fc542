import { createVerify } from 'node:crypto';
import { type ApiAnswer, type ApiCall, ApiServer, ok, type Routes } from './api-server.ts';
import type { WebhookDeliveries } from './deliveries.ts';
import {
  type ChatFile,
  type ChatMessage,
  type ChatSpace,
  type ChatUser,
  createRefusal,
  GoogleChatState,
  listPressableButtons,
  readContent,
  SentMessage,
} from './google-chat-state.ts';
import { PlatformDouble } from './platform-double.ts';
import { SigningKey } from './signing-key.ts';

/** A message to be written by a person. */
export interface ChatPersonMessage {
  readonly space: ChatSpace;
  /** The name of the thread; without one, the message starts a thread. */
  readonly thread?: string | undefined;
  readonly from: string;
  readonly text: string;
  readonly mention?: boolean;
  readonly files?: readonly ChatFile[];
  readonly isBot?: boolean;
}

/** The hosts of tokens and keys, for which the adapter has no option. */
const HOSTS = ['oauth2.googleapis.com', 'www.googleapis.com'];
/** An interaction must be answered within 30 s; the documentation mentions no second attempt. */
const DIRECT = { retryAfterMs: [], timeoutMs: 30_000 };
/** Pub/Sub repeats a push until it is acknowledged; the double uses short pauses. */
const PUBSUB = { retryAfterMs: [100, 200, 400, ...Array<number>(60).fill(500)], timeoutMs: 10_000 };
const CHAT_SYSTEM = 'chat@system.gserviceaccount.com';

/**
 * Google Chat on loopback: the Chat API with the token endpoint of service accounts, interactions
 * that are sent to the app once, and subscribed events that Pub/Sub pushes until they are accepted.
 */
export class GoogleChatDouble extends PlatformDouble {
  /** The public address of the webhook, which callers' tokens name as their audience. */
  readonly endpointUrl = 'https://bot.example.com/google-chat';
  readonly pubsubAccount = 'push@project.iam.gserviceaccount.com';
  readonly credentials: { readonly client_email: string; readonly private_key: string };
  readonly state = new GoogleChatState();
  readonly app: ChatUser = this.state.user('app', 'BOT');
  readonly interactions: WebhookDeliveries;
  readonly pushes: WebhookDeliveries;
  /** Whether the app subscribes to the messages of this space. */
  isSubscribed: (space: ChatSpace) => boolean = () => false;
  protected readonly api: ApiServer;
  readonly #google = new SigningKey();
  readonly #account = new SigningKey();
  readonly #tokens = new Set<string>();
  /** The messages that the app has sent with a request id. */
  readonly #requests = new Map<string, ChatMessage>();

  constructor() {
    super();
    const client_email = 'parley@project.iam.gserviceaccount.com';
    this.credentials = { client_email, private_key: this.#account.privatePem };
    this.api = new ApiServer(this.#routes(), () => {
      throw createRefusal(404, 'NOT_FOUND', 'Method not found.');
    });
    const seal = (email: string) => (event: unknown) => this.#seal(event, email);
    this.interactions = this.addWebhook({ ...DIRECT, seal: seal(CHAT_SYSTEM) });
    this.pushes = this.addWebhook({ ...PUBSUB, seal: seal(this.pubsubAccount) });
  }

  /** Passed to `rerouteHosts`. */
  get hosts(): Readonly<Record<string, number>> {
    return Object.fromEntries(HOSTS.map((host) => [host, this.api.port]));
  }

  /**
   * Writes a message as a person. The app gets direct messages and mentions as interactions, and
   * all messages in a subscribed space through Pub/Sub.
   */
  async say(saying: ChatPersonMessage): Promise<ChatMessage> {
    const { space, thread, mention = false, files = [], isBot } = saying;
    const sender = this.state.user(saying.from, isBot ? 'BOT' : 'HUMAN');
    space.members.set(sender.name, sender);
    const message = this.state.add(space, thread, {
      sender,
      text: mention ? `@${this.app.displayName} ${saying.text}` : saying.text,
      syntax: 'chat',
      cards: [],
      mentionsApp: mention,
      files: files.map((file) => ({ ...file, resourceName: crypto.randomUUID() })),
    });
    const isForApp = mention || space.type === 'DIRECT_MESSAGE';
    if (isForApp && !isBot) await this.#interact({ messagePayload: this.#payload(space, message) });
    if (this.isSubscribed(space)) await this.#push(space, message, 'created');
    return message;
  }

  /** Edits a message as a person; only subscriptions notify the app. */
  async edit(space: ChatSpace, name: string, text: string): Promise<void> {
    const message = this.state.message(space, name);
    Object.assign(message, { text, lastUpdateTime: new Date().toISOString() });
    if (this.isSubscribed(space)) await this.#push(space, message, 'updated');
  }

  /** Presses a button of a card as a person. */
  async press(space: ChatSpace, name: string, label: string, by: string): Promise<void> {
    const message = this.state.message(space, name);
    const action = listPressableButtons(message).find(({ text }) => text === label)?.action;
    if (action === undefined) throw new Error(`There is no button "${label}".`);
    const parameters = Object.fromEntries(
      (action.parameters ?? []).map(({ key, value }) => [key, value]),
    );
    const user = this.state.user(by);
    const payload = { ...this.#payload(space, message), user };
    const common = { invokedFunction: action.function, parameters };
    await this.#interact({ buttonClickedPayload: payload, user }, common);
  }

  /** Reacts to a message as a person; only subscriptions notify the app. */
  async react(space: ChatSpace, name: string, unicode: string, by: string): Promise<void> {
    const reaction = this.#react(this.state.message(space, name), this.state.user(by), unicode);
    const type = 'google.workspace.chat.reaction.v1.created';
    if (this.isSubscribed(space)) await this.#publish(space, type, { reaction });
  }

  #payload(space: ChatSpace, message: ChatMessage) {
    const shown = this.state.showSpace(space);
    return { space: shown, message: this.state.show(message, shown, this.app) };
  }

  async #interact(chat: object, common: object = {}): Promise<void> {
    const commonEventObject = { hostApp: 'CHAT', platform: 'WEB', ...common };
    const eventTime = new Date().toISOString();
    await this.interactions.send('interaction', {
      commonEventObject,
      chat: { ...chat, eventTime },
    });
  }

  /** Subscribed events contain only the name of the space. */
  #push(space: ChatSpace, message: ChatMessage, what: 'created' | 'updated'): Promise<void> {
    const { name } = space;
    const shown = this.state.show(message, { name }, this.app);
    const type = `google.workspace.chat.message.v1.${what}`;
    return this.#publish(space, type, { message: shown });
  }

  async #publish({ name }: ChatSpace, type: string, payload: object): Promise<void> {
    const time = new Date().toISOString();
    const attributes = {
      ...{ 'ce-type': type, 'ce-subject': `//chat.googleapis.com/${name}`, 'ce-time': time },
      ...{ 'ce-id': crypto.randomUUID(), 'ce-specversion': '1.0' },
      'content-type': 'application/json',
    };
    const data = Buffer.from(JSON.stringify(payload)).toString('base64');
    const message = { data, attributes, messageId: crypto.randomUUID(), publishTime: time };
    const subscription = 'projects/project/subscriptions/chat-push';
    await this.pushes.send('push', { message, subscription });
  }

  #seal(event: unknown, email: string) {
    const claims = { iss: 'https://accounts.google.com', aud: this.endpointUrl };
    const token = this.#google.sign({ ...claims, sub: '1234', email, email_verified: true });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return { headers, body: JSON.stringify(event) };
  }

  #routes(): Routes {
    const messages = '/v1/spaces/:space/messages';
    const one = `${messages}/:message`;
    return {
      'POST /token': (call) => this.#issueToken(call),
      'GET /oauth2/v1/certs': () => ({
        status: 200,
        headers: { 'cache-control': 'public, max-age=21600' },
        body: { [this.#google.id]: this.#google.publicPem },
      }),
      'GET /v1/spaces:findDirectMessage': (call) => this.#findDirect(call),
      'GET /v1/spaces/:space': (call) => ok(this.state.showSpace(this.#space(call))),
      'GET /v1/spaces/:space/members': (call) => {
        const members = [...this.#space(call).members.values()];
        const shown = members.map((member) => ({ state: 'JOINED', role: 'ROLE_MEMBER', member }));
        return ok({ memberships: shown });
      },
      [`POST ${messages}`]: (call) => this.#create(call),
      [`GET ${messages}`]: (call) => this.#list(call),
      [`GET ${one}`]: (call) => {
        const { space, message } = this.#message(call);
        return ok(this.#payload(space, message).message);
      },
      [`PUT ${one}`]: (call) => this.#update(call),
      [`PATCH ${one}`]: (call) => this.#update(call),
      [`DELETE ${one}`]: (call) => {
        const { space, message } = this.#own(call);
        space.messages.splice(space.messages.indexOf(message), 1);
        return ok({});
      },
      [`POST ${one}/reactions`]: (call) => {
        const { emoji } = call.json as { readonly emoji?: { readonly unicode?: string } };
        if (emoji?.unicode === undefined) throw createRefusal(400, 'INVALID_ARGUMENT', 'No emoji.');
        return ok(this.#react(this.#message(call).message, this.app, emoji.unicode));
      },
      [`GET ${one}/reactions`]: (call) =>
        ok({ reactions: this.#message(call).message.reactions.map(showReaction) }),
      [`DELETE ${one}/reactions/:reaction`]: (call) => {
        const { reactions } = this.#message(call).message;
        const index = reactions.findIndex(({ name }) => name.endsWith(`/${call.params.reaction}`));
        if (index < 0) throw createRefusal(404, 'NOT_FOUND', 'Reaction not found.');
        reactions.splice(index, 1);
        return ok({});
      },
      'GET /v1/media/:resource': (call) => this.#download(call),
    };
  }

  /** A service account authenticates with a request that it has signed. */
  #issueToken(call: ApiCall): ApiAnswer {
    const assertion = new URLSearchParams(call.body.toString()).get('assertion') ?? '';
    const [header = '', payload = '', signature = ''] = assertion.split('.');
    const signed = createVerify('RSA-SHA256').update(`${header}.${payload}`);
    if (!signed.verify(this.#account.publicPem, signature, 'base64url')) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Bad signature.' } };
    }
    const { iss } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (iss !== this.credentials.client_email)
      return { status: 400, body: { error: 'invalid_grant' } };
    const token = `ya29.${crypto.randomUUID()}`;
    this.#tokens.add(token);
    return ok({ access_token: token, expires_in: 3_599, token_type: 'Bearer' });
  }

  #findDirect(call: ApiCall): ApiAnswer {
    this.#checkToken(call);
    const person = call.url.searchParams.get('name') ?? '';
    const found = [...this.state.spaces.values()].find(
      ({ type, members }) => type === 'DIRECT_MESSAGE' && members.has(person),
    );
    if (found === undefined) throw createRefusal(404, 'NOT_FOUND', 'There is no such direct chat.');
    return ok(this.state.showSpace(found));
  }

  #create(call: ApiCall): ApiAnswer {
    const space = this.#space(call);
    const { searchParams } = call.url;
    const request = searchParams.get('requestId');
    const earlier = request === null ? undefined : this.#requests.get(request);
    if (earlier !== undefined) return ok(this.#payload(space, earlier).message);
    const sent = parseMessage(call);
    const isReply = searchParams.get('messageReplyOption')?.startsWith('REPLY_MESSAGE') === true;
    const thread = isReply ? sent.thread?.name : undefined;
    const facts = { sender: this.app, mentionsApp: false, files: [] };
    const message = this.state.add(space, thread, { ...readContent(sent), ...facts });
    if (request !== null) this.#requests.set(request, message);
    return ok(this.#payload(space, message).message);
  }

  #update(call: ApiCall): ApiAnswer {
    const { space, message } = this.#own(call);
    const mask = (call.url.searchParams.get('updateMask') ?? '').split(',').filter(Boolean);
    if (mask.length === 0)
      throw createRefusal(400, 'INVALID_ARGUMENT', 'The update mask is empty.');
    const sent = parseMessage(call);
    const all = mask.includes('*');
    const text = all || mask.includes('text') ? sent.text : message.text;
    const isCards = all || mask.includes('cardsV2') || mask.includes('cards_v2');
    const content = readContent({ ...sent, text, cardsV2: isCards ? sent.cardsV2 : undefined });
    message.text = content.text;
    message.syntax = content.syntax;
    if (isCards) message.cards = content.cards;
    message.lastUpdateTime = new Date().toISOString();
    return ok(this.#payload(space, message).message);
  }

  #list(call: ApiCall): ApiAnswer {
    const space = this.#space(call);
    const query = call.url.searchParams;
    const [, thread] = /thread\.name\s*=\s*"?([^"\s]+)"?/.exec(query.get('filter') ?? '') ?? [];
    const found = space.messages.filter((one) => thread === undefined || one.thread === thread);
    if (/desc/i.test(query.get('orderBy') ?? '')) found.reverse();
    const size = Math.min(Number(query.get('pageSize') ?? 25), 1_000);
    const from = Number(query.get('pageToken') ?? 0);
    const shown = found.slice(from, from + size).map((one) => this.#payload(space, one).message);
    const isMore = from + size < found.length;
    return ok({ messages: shown, ...(isMore ? { nextPageToken: String(from + size) } : {}) });
  }

  #download(call: ApiCall): ApiAnswer {
    this.#checkToken(call);
    const files = [...this.state.spaces.values()].flatMap(({ messages }) =>
      messages.flatMap((message) => message.files),
    );
    const file = files.find(({ resourceName }) => resourceName === call.params.resource);
    if (file === undefined) throw createRefusal(404, 'NOT_FOUND', 'Attachment not found.');
    return { status: 200, body: file.bytes, type: file.type };
  }

  #react(message: ChatMessage, user: ChatUser, unicode: string): object {
    const name = `${message.name}/reactions/${this.state.newId()}`;
    const reaction = { name, user, unicode };
    message.reactions.push(reaction);
    return showReaction(reaction);
  }

  #space(call: ApiCall): ChatSpace {
    this.#checkToken(call);
    return this.state.find(`spaces/${call.params.space}`);
  }

  #message(call: ApiCall): { readonly space: ChatSpace; readonly message: ChatMessage } {
    const space = this.#space(call);
    const name = `${space.name}/messages/${call.params.message}`;
    return { space, message: this.state.message(space, name) };
  }

  #own(call: ApiCall): { readonly space: ChatSpace; readonly message: ChatMessage } {
    const found = this.#message(call);
    if (found.message.sender.name === this.app.name) return found;
    throw createRefusal(403, 'PERMISSION_DENIED', 'Only the author can change a message.');
  }

  #checkToken({ headers }: ApiCall): void {
    if (this.#tokens.has((headers.authorization ?? '').replace('Bearer ', ''))) return;
    throw createRefusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  }
}

const showReaction = ({ name, user, unicode }: ChatMessage['reactions'][number]): object => ({
  ...{ name, user, emoji: { unicode } },
});

function parseMessage(call: ApiCall) {
  const { data, error } = SentMessage.safeParse(call.json);
  if (data === undefined) throw createRefusal(400, 'INVALID_ARGUMENT', error.message);
  return data;
}
