import { type ApiAnswer, type ApiCall, ApiServer, ok, type Routes } from './api-server.ts';
import type { WebhookDeliveries } from './deliveries.ts';
import { PlatformDouble } from './platform-double.ts';
import { SigningKey } from './signing-key.ts';
import { createGraphRoutes } from './teams-graph.ts';
import {
  createRefusal,
  escapeHtml,
  readContent,
  removeMessage,
  SentActivity,
  type TeamsConversation,
  type TeamsFile,
  type TeamsMessage,
  type TeamsPerson,
  TeamsState,
} from './teams-state.ts';

/** A message to be written by a person. */
export interface TeamsPersonMessage {
  readonly conversation: TeamsConversation;
  /** The first message of a thread in a channel; without one, the message starts a thread. */
  readonly thread?: string | undefined;
  readonly from: string;
  readonly text: string;
  readonly mention?: boolean;
  readonly files?: readonly TeamsFile[];
}

/** Hosts that the client libraries contact and that no adapter option can change. */
const HOSTS = ['login.microsoftonline.com', 'login.botframework.com', 'graph.microsoft.com'];
/**
 * The connector waits 15 s for a response. Further attempts are not documented; bots observe a
 * second delivery after a timeout or a server error.
 */
const POLICY = { retryAfterMs: [200, 1_000, 5_000, 10_000], timeoutMs: 15_000 };
const SCOPES = ['https://api.botframework.com/.default', 'https://graph.microsoft.com/.default'];

/**
 * Microsoft Teams on loopback: the Bot Framework connector, the token endpoint, the keys that sign
 * its calls to the bot, and the part of Graph that reads messages.
 */
export class TeamsDouble extends PlatformDouble {
  readonly appId = '11111111-2222-4333-8444-555555555555';
  readonly appPassword = 'the~secret~of~the~app';
  readonly tenantId = '99999999-8888-4777-8666-555555555555';
  readonly state = new TeamsState();
  readonly deliveries: WebhookDeliveries;
  /** The bot's reactions, as `message id: type`. */
  readonly reactions = new Set<string>();
  /** Ids of the conversations in which the bot has sent a typing indicator. */
  readonly typing: string[] = [];
  /** Whether the app may read messages that do not mention it (resource-specific consent). */
  readsAll = true;
  protected readonly api: ApiServer;
  readonly #key = new SigningKey();
  readonly #tokens = new Set<string>();

  constructor() {
    super();
    this.api = new ApiServer(this.#routes(), () => {
      throw createRefusal(404, 'ServiceError', 'Not found.');
    });
    this.deliveries = this.addWebhook({ ...POLICY, seal: (event) => this.#seal(event) });
  }

  get serviceUrl(): string {
    return `${this.root}/emea/`;
  }

  /** Passed to `rerouteHosts`. */
  get hosts(): Readonly<Record<string, number>> {
    return Object.fromEntries(HOSTS.map((host) => [host, this.api.port]));
  }

  /** Writes a message as a person; resolves with the message after the first delivery attempt. */
  async say(saying: TeamsPersonMessage): Promise<TeamsMessage> {
    const { conversation, text, mention = false, files = [] } = saying;
    const from = this.state.person(saying.from);
    conversation.members.set(from.id, from);
    const id = this.state.newId();
    const thread = conversation.type === 'channel' ? (saying.thread ?? id) : undefined;
    const message = {
      id,
      from,
      thread,
      createdAt: new Date(),
      text,
      cards: [],
      attachments: files,
    };
    conversation.messages.push(message);
    this.api.changes.changed();
    if (conversation.type === 'personal' || mention || this.readsAll) {
      const attachments = files.map((file) => this.#attach(file));
      const activity = { ...this.#activity(conversation, from, thread), type: 'message', id };
      await this.deliveries.send('message', {
        ...activity,
        textFormat: 'plain',
        // The plain text is derived from the HTML and keeps its character references.
        ...(mention ? addMention(escapeHtml(text), this.#bot) : { text: escapeHtml(text) }),
        attachments: [...attachments, htmlOf(text)],
      });
    }
    return message;
  }

  /** Edits a message as a person. */
  async edit(conversation: TeamsConversation, id: string, text: string): Promise<void> {
    const message = this.state.message(conversation, id);
    message.text = text;
    await this.#tellOf('messageUpdate', 'editMessage', conversation, message);
  }

  /** Deletes a message as a person. */
  async erase(conversation: TeamsConversation, id: string): Promise<void> {
    const message = this.state.message(conversation, id);
    removeMessage(conversation, id);
    await this.#tellOf('messageDelete', 'softDeleteMessage', conversation, message);
  }

  /** Presses a button of a card as a person. */
  async press(
    conversation: TeamsConversation,
    id: string,
    title: string,
    by: string,
  ): Promise<void> {
    const { cards, thread } = this.state.message(conversation, id);
    const button = cards.flatMap(({ buttons }) => buttons).find((one) => one.title === title);
    if (button === undefined) throw new Error(`There is no button "${title}".`);
    const from = this.state.person(by);
    conversation.members.set(from.id, from);
    const activity = { ...this.#activity(conversation, from, thread), replyToId: id };
    const { type, verb, data = {} } = button;
    const event =
      type === 'Action.Submit'
        ? { ...activity, type: 'message', value: data }
        : {
            ...{ ...activity, type: 'invoke', name: 'adaptiveCard/action' },
            value: { action: { type, verb, title, data }, trigger: 'manual' },
          };
    await this.deliveries.send('press', { ...event, id: `f:${crypto.randomUUID()}` });
  }

  /** Adds or removes a reaction as a person. */
  async react(conversation: TeamsConversation, id: string, type: string, by: string, added = true) {
    const { thread } = this.state.message(conversation, id);
    await this.deliveries.send('messageReaction', {
      ...this.#activity(conversation, this.state.person(by), thread),
      ...{ type: 'messageReaction', id: `f:${crypto.randomUUID()}`, replyToId: id },
      [added ? 'reactionsAdded' : 'reactionsRemoved']: [{ type }],
    });
  }

  get #bot() {
    return { id: `28:${this.appId}`, name: 'Parley' };
  }

  #tellOf(type: string, eventType: string, where: TeamsConversation, message: TeamsMessage) {
    const from = message.from === 'bot' ? this.state.person('nobody') : message.from;
    const { channelData, ...activity } = this.#activity(where, from, message.thread);
    const data = { ...channelData, eventType };
    const { id, text } = message;
    const changed = { type, id, text: escapeHtml(text), channelData: data };
    return this.deliveries.send(type, { ...activity, ...changed });
  }

  /** The fields common to all activities of a conversation. */
  #activity({ id, type, messages }: TeamsConversation, from: TeamsPerson, thread?: string) {
    const tenant = { id: this.tenantId };
    const team = { id: `${id}-team`, aadGroupId: `${id}-group` };
    const inThread = thread === undefined ? id : `${id};messageid=${thread}`;
    const isGroup = type === 'personal' ? {} : { isGroup: true };
    return {
      timestamp: (messages.at(-1)?.createdAt ?? new Date()).toISOString(),
      channelId: 'msteams',
      serviceUrl: this.serviceUrl,
      locale: 'en-GB',
      from: { id: from.id, name: from.name, aadObjectId: from.aadObjectId },
      recipient: this.#bot,
      conversation: { ...isGroup, conversationType: type, tenantId: this.tenantId, id: inThread },
      entities: [{ type: 'clientInfo', locale: 'en-GB', country: 'GB', platform: 'Web' }],
      channelData: type === 'channel' ? { tenant, team, channel: { id } } : { tenant },
    };
  }

  #attach(file: TeamsFile): object {
    const id = crypto.randomUUID();
    this.state.files.set(id, file);
    if (file.kind === 'picture') {
      const contentUrl = `${this.serviceUrl}v3/attachments/${id}/views/original`;
      return { contentType: 'image/*', contentUrl, name: file.name };
    }
    const downloadUrl = `${this.root}/storage/${id}?tempauth=granted`;
    const fileType = file.name.split('.').at(-1);
    return {
      contentType: 'application/vnd.microsoft.teams.file.download.info',
      contentUrl: `https://contoso.sharepoint.com/${file.name}`,
      name: file.name,
      content: { downloadUrl, uniqueId: id, fileType },
    };
  }

  #seal(event: unknown) {
    const claims = { iss: 'https://api.botframework.com', aud: this.appId };
    const token = this.#key.sign({ ...claims, serviceurl: this.serviceUrl });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return { headers, body: JSON.stringify(event) };
  }

  #routes(): Routes {
    const conversation = '/emea/v3/conversations/:conversation';
    const activity = `${conversation}/activities/:activity`;
    const keys = { keys: [{ ...this.#key.jwk, endorsements: ['msteams'] }] };
    return {
      'POST /:tenant/oauth2/v2.0/token': (call) => this.#issueToken(call),
      'GET /v1/.well-known/keys': () => ok(keys),
      'POST /emea/v3/conversations': (call) => this.#create(call),
      [`POST ${conversation}/activities`]: (call) => this.#post(call),
      [`PUT ${activity}`]: (call) => {
        const { message } = this.#own(call);
        Object.assign(message, readContent(parseActivity(call)));
        return ok({ id: message.id });
      },
      [`DELETE ${activity}`]: (call) => {
        const { place, message } = this.#own(call);
        removeMessage(place, message.id);
        return ok(undefined);
      },
      [`PUT ${activity}/reactions/:type`]: (call) => {
        this.#find(call);
        this.reactions.add(`${call.params.activity}: ${call.params.type}`);
        return ok(undefined);
      },
      [`DELETE ${activity}/reactions/:type`]: (call) => {
        this.#find(call);
        this.reactions.delete(`${call.params.activity}: ${call.params.type}`);
        return ok(undefined);
      },
      [`GET ${conversation}/members`]: (call) =>
        ok([...this.#find(call).conversation.members.values()].map(showMember)),
      [`GET ${conversation}/members/:member`]: (call) => {
        const member = this.#find(call).conversation.members.get(call.params.member ?? '');
        if (member === undefined)
          throw createRefusal(404, 'MemberNotFoundInConversation', 'Not found.');
        return ok(showMember(member));
      },
      'GET /emea/v3/attachments/:file/views/original': (call) => {
        this.#checkToken(call);
        return this.#serve(call);
      },
      'GET /storage/:file': (call) => this.#serve(call),
      ...createGraphRoutes(this.state, this.appId, (call) => this.#checkToken(call)),
    };
  }

  #issueToken(call: ApiCall): ApiAnswer {
    const form = new URLSearchParams(call.body.toString());
    const isApp = form.get('client_id') === this.appId;
    if (!isApp || form.get('client_secret') !== this.appPassword) {
      const error_description = 'AADSTS7000215: Invalid client secret provided.';
      return { status: 401, body: { error: 'invalid_client', error_description } };
    }
    const scope = form.get('scope')?.split(' ')[0] ?? '';
    if (!SCOPES.includes(scope)) return { status: 400, body: { error: 'invalid_scope' } };
    const token = this.#key.sign({ aud: scope.replace('/.default', ''), appid: this.appId });
    this.#tokens.add(token);
    return ok({
      token_type: 'Bearer',
      expires_in: 3_599,
      ext_expires_in: 3_599,
      access_token: token,
    });
  }

  /** Opens the direct chat with a person. */
  #create(call: ApiCall): ApiAnswer {
    this.#checkToken(call);
    const { members } = call.json as { readonly members: readonly { readonly id: string }[] };
    const name = members[0]?.id.replace('29:', '') ?? '';
    const id = `a:${name}`;
    if (!this.state.conversations.has(id)) this.state.open(id, 'personal', [name]);
    return { status: 201, body: { id } };
  }

  #post(call: ApiCall): ApiAnswer {
    const { conversation, thread } = this.#find(call);
    const activity = parseActivity(call);
    const id = this.state.newId();
    if (activity.type === 'typing') this.typing.push(conversation.id);
    else {
      const inThread = conversation.type === 'channel' ? (thread ?? id) : undefined;
      const content = readContent(activity);
      const message = { id, from: 'bot', thread: inThread, createdAt: new Date() } as const;
      conversation.messages.push({ ...message, ...content });
    }
    return { status: 201, body: { id } };
  }

  #find(call: ApiCall) {
    this.#checkToken(call);
    return this.state.find(call.params.conversation ?? '');
  }

  #own(call: ApiCall): { readonly place: TeamsConversation; readonly message: TeamsMessage } {
    const { conversation } = this.#find(call);
    const message = this.state.message(conversation, call.params.activity ?? '');
    if (message.from !== 'bot')
      throw createRefusal(403, 'Forbidden', 'Only the author can change it.');
    return { place: conversation, message };
  }

  #checkToken({ headers }: ApiCall): void {
    if (this.#tokens.has((headers.authorization ?? '').replace('Bearer ', ''))) return;
    throw createRefusal(401, 'Unauthorized', 'Authorization has been denied for this request.');
  }

  #serve({ params }: ApiCall): ApiAnswer {
    const file = this.state.files.get(params.file ?? '');
    if (file === undefined) throw createRefusal(404, 'NotFound', 'No such file.');
    return { status: 200, body: file.bytes, type: file.type };
  }
}

const showMember = ({ id, name, aadObjectId }: TeamsPerson): object => ({
  ...{ id, name, objectId: aadObjectId, userRole: 'user' },
  ...{ email: `${name}@contoso.com`, userPrincipalName: `${name}@contoso.com` },
});

const htmlOf = (text: string): object => ({
  ...{ contentType: 'text/html', content: `<p>${escapeHtml(text)}</p>` },
});

function addMention(text: string, bot: { readonly id: string; readonly name: string }) {
  const at = `<at>${bot.name}</at>`;
  return { text: `${at} ${text}`, entities: [{ type: 'mention', mentioned: bot, text: at }] };
}

function parseActivity(call: ApiCall): SentActivity {
  const { data, error } = SentActivity.safeParse(call.json);
  if (data === undefined) throw createRefusal(400, 'BadSyntax', error.message);
  return data;
}
