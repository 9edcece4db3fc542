import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { type ApiAnswer, type ApiCall, ApiServer, type Routes } from './api-server.ts';
import type { WebhookDeliveries } from './deliveries.ts';
import { PlatformDouble } from './platform-double.ts';
import { toVisibleChatText } from './visible-chat.ts';
import {
  type CloudContent,
  type CloudFile,
  createMediaContent,
  createRefusal,
  readContent,
  SentMessage,
} from './whatsapp-cloud-message.ts';

/** A person with a business-scoped id and, unless hidden, a phone number. */
export interface CloudPerson {
  userId: string;
  phone: string | undefined;
  readonly name: string;
  /** The time of the last message from the person to the business, in ms since 1970. */
  lastWroteAt: number;
  hasBlocked: boolean;
}

/** A message in a chat, in either direction. */
export interface CloudMessage extends CloudContent {
  readonly id: string;
  readonly from: 'bot' | CloudPerson;
  readonly person: CloudPerson;
  readonly replyTo: string | undefined;
}

/** Content sent by a person. */
export interface CloudPersonMessage {
  readonly person: CloudPerson;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly file?: CloudFile;
}

const WINDOW_MS = 24 * 60 * 60_000;
/**
 * Meta repeats a webhook for up to seven days with growing pauses; the double uses short pauses.
 */
const POLICY = { retryAfterMs: [100, 200, 400, ...Array<number>(60).fill(500)], timeoutMs: 20_000 };
const TypingOrRead = z.strictObject({
  messaging_product: z.literal('whatsapp'),
  status: z.literal('read'),
  message_id: z.string(),
  typing_indicator: z.strictObject({ type: z.literal('text') }).optional(),
});

/**
 * The WhatsApp Cloud API on loopback: messages, media, the 24-hour window, and signed webhooks with
 * messages and statuses, in which people may have no phone number.
 */
export class WhatsAppCloudDouble extends PlatformDouble {
  readonly accessToken = 'EAAdoubleAccessToken';
  readonly appSecret = 'the-secret-of-the-app';
  readonly verifyToken = 'the-token-of-the-challenge';
  readonly phoneNumberId = '106540352242922';
  readonly messages: CloudMessage[] = [];
  readonly reactions: { readonly messageId: string; readonly emoji: string }[] = [];
  /** Ids of the messages for which the business has sent a typing indicator. */
  readonly typing: string[] = [];
  readonly deliveries: WebhookDeliveries;
  /**
   * Reports a closed window in a status instead of refusing the message, as WhatsApp often does.
   */
  refusesLate = false;
  protected readonly api: ApiServer;
  readonly #media = new Map<string, CloudFile>();
  readonly #people: CloudPerson[] = [];
  #next = 0;

  constructor() {
    super();
    this.api = new ApiServer(this.#routes(), () => {
      throw createRefusal(400, 100, 'Invalid parameter', 'Unsupported request.');
    });
    this.deliveries = this.addWebhook({ ...POLICY, seal: (event) => this.#seal(event) });
  }

  get port(): number {
    return this.api.port;
  }

  /** @param phone absent for people who hide their number behind a username */
  addPerson(name: string, phone?: string): CloudPerson {
    const userId = `DE.${1_000_000 + this.#number()}`;
    const person = { userId, phone, name, lastWroteAt: 0, hasBlocked: false };
    this.#people.push(person);
    return person;
  }

  /** Registers the webhook, which must answer the challenge. */
  async subscribe(url: string): Promise<void> {
    const challenge = String(this.#number());
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.verify_token': this.verifyToken,
      'hub.challenge': challenge,
    });
    const answer = await fetch(`${url}?${query}`);
    if (!answer.ok || (await answer.text()) !== challenge) {
      throw new Error('The webhook did not return the challenge.');
    }
    this.deliveries.sendTo(url);
  }

  /** Writes a message as a person; resolves with the message after the first delivery attempt. */
  async say({ person, text, replyTo, file }: CloudPersonMessage): Promise<CloudMessage> {
    const media = file === undefined ? undefined : this.#keep(file);
    const message = this.#add({ from: person, person, text, buttons: [], media, replyTo });
    const content =
      file === undefined || media === undefined
        ? { type: 'text', text: { body: text } }
        : createMediaContent(file, media, text);
    await this.#tell(person, { id: message.id, ...content, ...this.#context(replyTo) });
    return message;
  }

  /** Presses a button or selects from a list as a person. */
  async press(person: CloudPerson, messageId: string, title: string): Promise<void> {
    const pressed = this.messages.find(({ id }) => id === messageId);
    const button = pressed?.buttons.find((one) => one.title === title);
    if (button === undefined) throw new Error(`There is no button "${title}".`);
    const interactive = { type: 'button_reply', button_reply: button };
    const id = this.#newId();
    await this.#tell(person, { id, type: 'interactive', interactive, ...this.#context(messageId) });
  }

  /** Reacts to a message as a person; an empty emoji removes the reaction. */
  async react(person: CloudPerson, messageId: string, emoji: string): Promise<void> {
    const reaction = { message_id: messageId, emoji };
    await this.#tell(person, { id: this.#newId(), type: 'reaction', reaction });
  }

  /** Gives a person another number and another business-scoped id. */
  async changeNumber(person: CloudPerson, phone: string | undefined): Promise<void> {
    const previous = person.userId;
    person.userId = `DE.${1_000_000 + this.#number()}`;
    person.phone = phone;
    const update = {
      user_id: { previous, current: person.userId },
      ...(phone === undefined ? {} : { wa_id: phone }),
      timestamp: seconds(),
    };
    await this.#send('user_id_update', { user_id_update: [update] });
  }

  /** The visible messages in the chat with a person. */
  conversation(person: CloudPerson): readonly (CloudMessage & { readonly visible: string })[] {
    return this.messages
      .filter((message) => message.person === person)
      .map((message) => ({ ...message, visible: toVisibleChatText(message.text) }));
  }

  /** The bytes uploaded by the business or sent by a person. */
  file(media: string): CloudFile | undefined {
    return this.#media.get(media);
  }

  #tell(person: CloudPerson, message: object): Promise<void> {
    const { userId, phone, name } = person;
    person.lastWroteAt = Date.now();
    const number = phone === undefined ? {} : { wa_id: phone };
    const username = phone === undefined ? { username: `@${name}` } : {};
    const from = phone === undefined ? {} : { from: phone };
    return this.#send('messages', {
      contacts: [{ profile: { name, ...username }, user_id: userId, ...number }],
      messages: [{ ...from, from_user_id: userId, timestamp: seconds(), ...message }],
    });
  }

  #tellStatus(to: CloudPerson, id: string, status: string, data: string | undefined, more = {}) {
    const recipient = to.phone === undefined ? {} : { recipient_id: to.phone };
    const echoed = data === undefined ? {} : { biz_opaque_callback_data: data };
    const who = { recipient_user_id: to.userId, ...recipient };
    const told = { id, status, timestamp: seconds(), ...who, ...echoed, ...more };
    return this.#send('messages', { statuses: [told] });
  }

  async #send(field: string, value: object): Promise<void> {
    const metadata = { display_phone_number: '15550783881', phone_number_id: this.phoneNumberId };
    const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
    const entry = [{ id: '102290129340398', changes: [change] }];
    await this.deliveries.send(field, { object: 'whatsapp_business_account', entry });
  }

  #seal(event: unknown) {
    const body = JSON.stringify(event);
    const signature = createHmac('sha256', this.appSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json' };
    return { body, headers: { ...headers, 'x-hub-signature-256': `sha256=${signature}` } };
  }

  #routes(): Routes {
    return {
      'GET /whatsapp_business/attachments': (call) => {
        this.#checkToken(call);
        const file = this.#media.get(call.url.searchParams.get('mid') ?? '');
        if (file === undefined)
          throw createRefusal(404, 100, 'Invalid parameter', 'No such media.');
        return { status: 200, body: file.bytes, type: file.type };
      },
      'POST /:version/:phone/messages': (call) => this.#post(call),
      'POST /:version/:phone/media': (call) => this.#upload(call),
      'GET /:version/:media': (call) => this.#describe(call),
    };
  }

  #post(call: ApiCall): ApiAnswer {
    this.#checkToken(call);
    const typing = TypingOrRead.safeParse(call.json).data;
    if (typing !== undefined) {
      if (typing.typing_indicator !== undefined) this.typing.push(typing.message_id);
      return { status: 200, body: { success: true } };
    }
    const { data: sent, error } = SentMessage.safeParse(call.json);
    if (sent === undefined)
      throw createRefusal(400, 100, 'Invalid parameter', z.prettifyError(error));
    const person = this.#recipient(sent);
    const content = readContent(sent);
    const isOpen = Date.now() - person.lastWroteAt < WINDOW_MS || sent.type === 'template';
    const closed = 'Message failed to send because more than 24 hours have passed.';
    if (!isOpen && !this.refusesLate)
      throw createRefusal(400, 131_047, 'Re-engagement message', closed);
    const { media } = content;
    if (media !== undefined && !media.startsWith('https:') && !this.#media.has(media)) {
      throw createRefusal(400, 131_009, 'Parameter value is not valid', 'Unknown media id.');
    }
    const contact = { input: sent.to ?? sent.recipient, user_id: person.userId };
    const number = person.phone === undefined ? {} : { wa_id: person.phone };
    const id = this.#deliver(sent, person, content, isOpen ? undefined : [131_047, closed]);
    const contacts = [{ ...contact, ...number }];
    return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id }] } };
  }

  /** Shows the message to the person, and reports the delivery status to the business. */
  #deliver(
    sent: SentMessage,
    person: CloudPerson,
    content: CloudContent,
    closed: readonly [code: number, title: string] | undefined,
  ): string {
    const data = sent.biz_opaque_callback_data;
    const blocked = [131_026, 'Message undeliverable'] as const;
    const failure = closed ?? (person.hasBlocked ? blocked : undefined);
    if (failure !== undefined) {
      const id = this.#newId();
      const errors = [{ code: failure[0], title: failure[1] }];
      void this.#tellStatus(person, id, 'failed', data, { errors });
      return id;
    }
    if (sent.type === 'reaction') {
      const { message_id: messageId, emoji } = sent.reaction;
      this.reactions.push({ messageId, emoji });
      return this.#newId();
    }
    const replyTo = sent.context?.message_id;
    const { id } = this.#add({ ...content, from: 'bot', person, replyTo });
    void this.#tellStatus(person, id, 'sent', data);
    void this.#tellStatus(person, id, 'delivered', data);
    return id;
  }

  #recipient({ to, recipient }: SentMessage): CloudPerson {
    const person = this.#people.find(({ userId, phone }) =>
      to === undefined ? userId === recipient : phone === to.replace(/^\+/, ''),
    );
    if (person !== undefined) return person;
    throw createRefusal(400, 131_026, 'Message undeliverable', 'The recipient is not on WhatsApp.');
  }

  async #upload(call: ApiCall): Promise<ApiAnswer> {
    this.#checkToken(call);
    const headers = { 'content-type': call.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(call.body), { headers }).formData();
    const file = form.get('file');
    if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof File)) {
      throw createRefusal(400, 100, 'Invalid parameter', 'A file is required.');
    }
    const bytes = Buffer.from(await file.arrayBuffer());
    const type = String(form.get('type') ?? file.type);
    return { status: 200, body: { id: this.#keep({ name: file.name, type, bytes }) } };
  }

  #describe(call: ApiCall): ApiAnswer {
    this.#checkToken(call);
    const id = call.params.media ?? '';
    if (id === this.phoneNumberId) {
      const number = { display_phone_number: '+1 555-078-3881', verified_name: 'Parley' };
      return { status: 200, body: { ...number, id } };
    }
    const file = this.#media.get(id);
    if (file === undefined) throw createRefusal(400, 100, 'Invalid parameter', 'No such media.');
    const url = `https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=${id}&ext=1`;
    const sha256 = createHash('sha256').update(file.bytes).digest('hex');
    const facts = { id, url, mime_type: file.type, sha256, file_size: file.bytes.length };
    return { status: 200, body: { messaging_product: 'whatsapp', ...facts } };
  }

  #keep(file: CloudFile): string {
    const id = String(1_000_000_000 + this.#number());
    this.#media.set(id, file);
    return id;
  }

  #add(message: Omit<CloudMessage, 'id'>): CloudMessage {
    const added = { ...message, id: this.#newId() };
    this.messages.push(added);
    this.api.changes.changed();
    return added;
  }

  #context(messageId: string | undefined): object {
    if (messageId === undefined) return {};
    const quoted = this.messages.find(({ id }) => id === messageId);
    const author = quoted?.from === 'bot' ? '15550783881' : (quoted?.person.phone ?? '');
    return { context: { from: author, id: messageId } };
  }

  #checkToken({ headers }: ApiCall): void {
    if (headers.authorization === `Bearer ${this.accessToken}`) return;
    throw createRefusal(401, 190, 'Access token error', 'Invalid OAuth access token.');
  }

  #newId(): string {
    return `wamid.${Buffer.from(`double-${this.#number()}`).toString('base64')}`;
  }

  #number(): number {
    this.#next += 1;
    return this.#next;
  }
}

const seconds = () => String(Math.floor(Date.now() / 1_000));
