import { createHmac, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { type ApiAnswer, type ApiCall, ApiServer, ok, type Routes } from './api-server.ts';
import type { Delivery, WebhookDeliveries } from './deliveries.ts';
import {
  type GitHubComment,
  GitHubState,
  type GitHubUser,
  notFound,
  now,
  refuse,
  requireBody,
} from './github-state.ts';
import { PlatformDouble } from './platform-double.ts';

/** A comment to be written by a person. */
export interface GitHubPersonComment {
  readonly repository: string;
  readonly issue: number;
  readonly from: string;
  readonly text: string;
  /** A comment on the diff of a pull request: the first of a thread, or a reply to `inReplyTo`. */
  readonly review?: { readonly inReplyTo?: number | undefined };
  readonly isBot?: boolean;
}

const HOOK_ID = 4_711;
const INSTALLATION_ID = 77;
/** GitHub waits ten seconds for a webhook, and never retries by itself. */
const POLICY = { retryAfterMs: [], timeoutMs: 10_000 };

/**
 * GitHub on loopback: comments on issues, pull requests and diffs over REST, with a personal token
 * or as an app, and signed webhooks that are delivered once and again only on demand.
 */
export class GitHubDouble extends PlatformDouble {
  readonly token = 'ghp_doubleTokenOfTheBotForTests';
  readonly webhookSecret = 'a-secret-of-the-webhook';
  readonly app: {
    readonly id: string;
    readonly privateKey: string;
    readonly installationId: number;
  };
  readonly state: GitHubState;
  readonly deliveries: WebhookDeliveries;
  protected readonly api: ApiServer;
  readonly #appPublicKey: string;
  /** The accounts of valid tokens; the app's tokens begin with `ghs_`. */
  readonly #tokens = new Map<string, GitHubUser>();

  constructor() {
    super();
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = { type: 'pkcs8', format: 'pem' } as const;
    this.app = {
      id: '1234',
      privateKey: privateKey.export(pem).toString(),
      installationId: INSTALLATION_ID,
    };
    this.#appPublicKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.state = new GitHubState(() => this.apiUrl);
    this.api = new ApiServer(this.#routes(), () => {
      throw notFound();
    });
    this.deliveries = this.addWebhook({
      ...POLICY,
      seal: (event, delivery) => this.#seal(event, delivery),
    });
    this.#tokens.set(this.token, this.state.user('parley-bot'));
  }

  /** Comments as a person; the webhook notifies the bot. */
  async say(saying: GitHubPersonComment): Promise<GitHubComment> {
    const { repository, issue, from, text, review, isBot } = saying;
    const user = this.state.user(from, isBot ? 'Bot' : 'User');
    const kind = review === undefined ? 'issue' : 'review';
    const inReplyTo = review?.inReplyTo;
    const comment = this.state.add({ kind, repository, issue, user, inReplyTo }, text);
    await this.#tell('created', comment);
    return comment;
  }

  async edit(id: number, text: string): Promise<void> {
    await this.#edit(this.#any(id), text);
  }

  async erase(id: number): Promise<void> {
    const comment = this.#any(id);
    this.state.comments.delete(id);
    await this.#tell('deleted', comment);
  }

  #any(id: number): GitHubComment {
    const comment = this.state.comments.get(id);
    if (comment === undefined) throw new Error(`There is no comment ${id}.`);
    return comment;
  }

  async #edit(comment: GitHubComment, body: unknown): Promise<void> {
    const before = comment.body;
    comment.body = requireBody(body);
    comment.updatedAt = now();
    await this.#tell('edited', comment, { changes: { body: { from: before } } });
  }

  /** Like GitHub, the double also sends a webhook for comments by the bot. */
  #tell(action: string, comment: GitHubComment, more: object = {}): Promise<Delivery> {
    const { repository, issue, kind, user } = comment;
    const subject = this.state.showIssue(repository, issue);
    const event = {
      action,
      comment: this.state.show(comment),
      repository: this.state.showRepository(repository),
      sender: user,
      installation: { id: INSTALLATION_ID, node_id: 'MDIz' },
      ...(kind === 'issue' ? { issue: subject } : { pull_request: subject }),
      ...more,
    };
    const name = kind === 'issue' ? 'issue_comment' : 'pull_request_review_comment';
    this.api.changes.changed();
    return this.deliveries.send(name, event);
  }

  #seal(event: unknown, { id, kind }: Delivery) {
    const body = JSON.stringify(event);
    const signature = createHmac('sha256', this.webhookSecret).update(body).digest('hex');
    return {
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/044aadd',
        'x-github-event': kind,
        'x-github-delivery': id,
        'x-github-hook-id': String(HOOK_ID),
        'x-hub-signature-256': `sha256=${signature}`,
      },
    };
  }

  #routes(): Routes {
    return {
      'GET /user': (call) => ok(this.#person(call)),
      'GET /user/:id': (call) => ok(this.#userWhere(({ id }) => String(id) === call.params.id)),
      'GET /users/:login': (call) =>
        ok(this.#userWhere(({ login }) => login === call.params.login)),
      'GET /app': (call) => {
        this.#checkApp(call);
        return ok({ id: Number(this.app.id), slug: 'parley', name: 'Parley' });
      },
      'POST /app/installations/:id/access_tokens': (call) => this.#installationToken(call),
      'GET /repos/:owner/:repo': (call) => {
        this.#caller(call);
        return ok(this.state.showRepository(repositoryOf(call)));
      },
      'GET /repos/:owner/:repo/issues/:number': (call) => this.#showIssue(call),
      'GET /repos/:owner/:repo/pulls/:number': (call) => this.#showIssue(call),
      'POST /repos/:owner/:repo/issues/:number/comments': (call) => this.#create(call, 'issue'),
      'GET /repos/:owner/:repo/issues/:number/comments': (call) => this.#list(call, 'issue'),
      'POST /repos/:owner/:repo/pulls/:number/comments/:id/replies': (call) =>
        this.#create(call, 'review'),
      'GET /repos/:owner/:repo/pulls/:number/comments': (call) => this.#list(call, 'review'),
      ...this.#commentRoutes('issues', 'issue'),
      ...this.#commentRoutes('pulls', 'review'),
      'GET /repos/:owner/:repo/hooks/:hook/deliveries': (call) => {
        this.#caller(call);
        return ok(this.deliveries.all.map(showDelivery).reverse());
      },
      'POST /repos/:owner/:repo/hooks/:hook/deliveries/:id/attempts': (call) => {
        this.#caller(call);
        void this.deliveries.redeliver(call.params.id ?? '');
        return { status: 202, body: {} };
      },
    };
  }

  #commentRoutes(path: string, kind: GitHubComment['kind']): Routes {
    const one = `/repos/:owner/:repo/${path}/comments/:id`;
    const find = (call: ApiCall) => {
      this.#caller(call);
      return this.state.comment(kind, Number(call.params.id));
    };
    return {
      [`GET ${one}`]: (call) => ok(this.state.show(find(call))),
      [`PATCH ${one}`]: async (call) => {
        const comment = find(call);
        this.#checkOwn(call, comment);
        const { body } = call.json as { readonly body?: unknown };
        requireBody(body);
        void this.#edit(comment, body);
        return ok(this.state.show(comment));
      },
      [`DELETE ${one}`]: (call) => {
        const comment = find(call);
        this.#checkOwn(call, comment);
        void this.erase(comment.id);
        return { status: 204 };
      },
      [`GET ${one}/reactions`]: (call) => ok(find(call).reactions),
      [`POST ${one}/reactions`]: (call) => {
        const { content } = call.json as { readonly content?: unknown };
        const { status, reaction } = this.state.react(find(call), this.#caller(call), content);
        return { status, body: reaction };
      },
      [`DELETE ${one}/reactions/:reaction`]: (call) => {
        const { reactions } = find(call);
        const index = reactions.findIndex(({ id }) => String(id) === call.params.reaction);
        if (index < 0) throw notFound();
        reactions.splice(index, 1);
        return { status: 204 };
      },
    };
  }

  #create(call: ApiCall, kind: GitHubComment['kind']): ApiAnswer {
    const user = this.#caller(call);
    const { body } = call.json as { readonly body?: unknown };
    const issue = Number(call.params.number);
    const root = call.params.id;
    if (root !== undefined) this.state.comment('review', Number(root));
    const inReplyTo = root === undefined ? undefined : Number(root);
    const repository = repositoryOf(call);
    const comment = this.state.add({ kind, repository, issue, user, inReplyTo }, body);
    void this.#tell('created', comment);
    return { status: 201, body: this.state.show(comment) };
  }

  #list(call: ApiCall, kind: GitHubComment['kind']): ApiAnswer {
    this.#caller(call);
    const all = this.state.conversation(repositoryOf(call), Number(call.params.number), kind);
    const size = Math.min(Number(call.url.searchParams.get('per_page') ?? 30), 100);
    const page = Number(call.url.searchParams.get('page') ?? 1);
    const pages = Math.max(1, Math.ceil(all.length / size));
    const link = (to: number, rel: string) => {
      const url = new URL(call.url.pathname, this.apiUrl);
      url.search = new URLSearchParams({ per_page: String(size), page: String(to) }).toString();
      return `<${url.href}>; rel="${rel}"`;
    };
    const links = page < pages ? [link(page + 1, 'next'), link(pages, 'last')] : [];
    const shown = all.slice((page - 1) * size, page * size).map((one) => this.state.show(one));
    return { ...ok(shown), ...(links.length > 0 ? { headers: { link: links.join(', ') } } : {}) };
  }

  #showIssue(call: ApiCall): ApiAnswer {
    this.#caller(call);
    return ok(this.state.showIssue(repositoryOf(call), Number(call.params.number)));
  }

  #caller(call: ApiCall): GitHubUser {
    if (call.headers['user-agent'] === undefined) {
      throw refuse(403, 'Request forbidden by administrative rules.');
    }
    const user = this.#tokens.get(tokenOf(call));
    if (user === undefined) throw refuse(401, 'Bad credentials');
    return user;
  }

  /** The account of a personal token; an installation has no account. */
  #person(call: ApiCall): GitHubUser {
    const user = this.#caller(call);
    if (user.type === 'Bot') throw refuse(403, 'Resource not accessible by integration');
    return user;
  }

  #userWhere(matches: (user: GitHubUser) => boolean): GitHubUser {
    const user = [...this.state.users.values()].find(matches);
    if (user === undefined) throw notFound();
    return user;
  }

  #checkOwn(call: ApiCall, comment: GitHubComment): void {
    if (comment.user.id !== this.#caller(call).id) throw refuse(403, 'Must have admin rights.');
  }

  #installationToken(call: ApiCall): ApiAnswer {
    this.#checkApp(call);
    if (call.params.id !== String(INSTALLATION_ID)) throw notFound();
    const token = `ghs_${crypto.randomUUID()}`;
    this.#tokens.set(token, this.state.user('parley[bot]', 'Bot'));
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const permissions = { issues: 'write', pull_requests: 'write' };
    const body = { token, expires_at: expires, permissions, repository_selection: 'all' };
    return { status: 201, body };
  }

  /** @throws Refusal 401 unless the app signed the token with its own key, for at most ten minutes */
  #checkApp(call: ApiCall): void {
    const [header = '', payload = '', signature = ''] = tokenOf(call).split('.');
    const key = createPublicKey(this.#appPublicKey);
    const signed = createVerify('RSA-SHA256').update(`${header}.${payload}`);
    if (!signed.verify(key, signature, 'base64url')) {
      throw refuse(401, 'A JSON web token could not be decoded');
    }
    const claims: { readonly iss: unknown; readonly iat: number; readonly exp: number } =
      JSON.parse(Buffer.from(payload, 'base64url').toString());
    const seconds = Date.now() / 1_000;
    const isCurrent = claims.iat <= seconds && claims.exp > seconds && claims.exp < seconds + 660;
    if (String(claims.iss) !== this.app.id || !isCurrent) throw refuse(401, 'Bad credentials');
  }
}

const repositoryOf = ({ params }: ApiCall) => `${params.owner}/${params.repo}`;

const tokenOf = ({ headers }: ApiCall) => (headers.authorization ?? '').replace(/^\w+ /, '');

function showDelivery({ id, kind, state, attempts }: Delivery): object {
  const status = attempts.at(-1);
  return {
    ...{ id, guid: id, event: kind, redelivery: attempts.length > 1 },
    status: state === 'delivered' ? 'OK' : 'failed to connect to host',
    status_code: typeof status === 'number' ? status : 0,
  };
}
