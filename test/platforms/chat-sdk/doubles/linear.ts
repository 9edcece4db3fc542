import { createHmac } from 'node:crypto';
import { type ApiAnswer, type ApiCall, ApiServer, Refusal } from './api-server.ts';
import type { Delivery, WebhookDeliveries } from './deliveries.ts';
import { type GraphQlObject, type GraphQlRoots, runGraphQl } from './graphql.ts';
import {
  type CommentArgs,
  type CommentInput,
  createRefusal,
  type LinearComment,
  LinearState,
  type LinearUser,
  notFound,
  type ReactionInput,
  requireBody,
  showReaction,
} from './linear-state.ts';
import { PlatformDouble } from './platform-double.ts';

/** A comment to be written by a person. */
export interface LinearPersonComment {
  readonly issueId: string;
  readonly from: string;
  readonly text: string;
  /** The comment being answered, which must not be a reply itself. */
  readonly parentId?: string | undefined;
  readonly isByApp?: boolean;
}

/**
 * Linear waits 5 s and retries three times: after a minute, an hour and six hours. The double
 * retries sooner.
 */
const POLICY = { retryAfterMs: [300, 4_000, 12_000], timeoutMs: 5_000 };

/**
 * Linear on loopback: comments and reactions over GraphQL, with a personal key or an OAuth token,
 * and signed webhooks.
 */
export class LinearDouble extends PlatformDouble {
  readonly apiKey = 'lin_api_doubleKeyOfTheBot';
  readonly webhookSecret = 'lin_wh_secretOfTheWebhook';
  readonly state = new LinearState();
  readonly deliveries: WebhookDeliveries;
  protected readonly api: ApiServer;
  readonly #roots: GraphQlRoots = { query: this.#queries(), mutation: this.#mutations() };

  constructor() {
    super();
    const route = { 'POST /graphql': (call: ApiCall) => this.#run(call) };
    this.api = new ApiServer(route, () => ({ status: 404, body: { error: 'Not found' } }));
    this.deliveries = this.addWebhook({
      ...POLICY,
      seal: (event, delivery) => this.#seal(event, delivery),
    });
  }

  override get apiUrl(): string {
    return `${this.root}/graphql`;
  }

  /** Comments as a person; resolves with the comment after the first delivery attempt. */
  async say({
    issueId,
    from,
    text,
    parentId,
    isByApp,
  }: LinearPersonComment): Promise<LinearComment> {
    const comment = this.state.add(
      { issueId, body: text, parentId },
      this.state.user(from),
      isByApp,
    );
    await this.#tell('Comment', 'create', comment.user, this.state.showInWebhook(comment));
    return comment;
  }

  async edit(id: string, text: string): Promise<void> {
    const comment = this.state.find(id);
    comment.body = text;
    comment.updatedAt = new Date().toISOString();
    await this.#tell('Comment', 'update', comment.user, this.state.showInWebhook(comment));
  }

  async erase(id: string): Promise<void> {
    const comment = this.state.find(id);
    this.state.comments.delete(id);
    await this.#tell('Comment', 'remove', comment.user, this.state.showInWebhook(comment));
  }

  async #tell(type: string, action: string, user: LinearUser, data: object): Promise<void> {
    const { id, name, email, url } = user;
    const event = {
      ...{ action, type, data, organizationId: this.state.organizationId },
      actor: { id, type: 'user', name, email, url },
      createdAt: new Date().toISOString(),
      url: 'https://linear.app/acme/issue/ENG-1#comment',
      webhookId: '77777777-1111-4222-8333-444444444444',
    };
    await this.deliveries.send(type, event);
  }

  #seal(event: unknown, { id, kind }: Delivery) {
    const body = JSON.stringify({ ...(event as object), webhookTimestamp: Date.now() });
    const signature = createHmac('sha256', this.webhookSecret).update(body).digest('hex');
    return {
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Linear-Webhook',
        'linear-delivery': id,
        'linear-event': kind,
        'linear-signature': signature,
      },
    };
  }

  async #run(call: ApiCall): Promise<ApiAnswer> {
    const key = (call.headers.authorization ?? '').replace('Bearer ', '');
    if (key !== this.apiKey) {
      throw createRefusal(
        401,
        'AUTHENTICATION_ERROR',
        'Authentication required, not authenticated',
      );
    }
    const { query = '', variables = {} } = call.json as {
      readonly query?: string;
      readonly variables?: Readonly<Record<string, unknown>>;
    };
    try {
      return { status: 200, body: { data: await runGraphQl(this.#roots, query, variables) } };
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw createRefusal(400, 'GRAPHQL_VALIDATION_FAILED', String(error));
    }
  }

  #queries(): GraphQlObject {
    const all = () => [...this.state.comments.values()];
    return {
      viewer: () => this.state.showUser(this.state.bot),
      organization: () => ({ id: this.state.organizationId, name: 'Acme', urlKey: 'acme' }),
      user: ({ id }: { readonly id: string }) => {
        const user = [...this.state.users.values()].find((one) => one.id === id);
        if (user === undefined) throw notFound('User');
        return this.state.showUser(user);
      },
      issue: ({ id }: { readonly id: string }) => this.state.showIssue(id),
      comment: ({ id }: { readonly id: string }) => this.state.show(this.state.find(id)),
      comments: (args: CommentArgs) => {
        const parent = args.filter?.parent?.id?.eq;
        const issue = args.filter?.issue?.id?.eq;
        const found = all()
          .filter(({ parentId }) => parent === undefined || parentId === parent)
          .filter(({ issueId }) => issue === undefined || issueId === issue);
        return this.state.page(found, args);
      },
    };
  }

  #mutations(): GraphQlObject {
    const done = (comment: LinearComment) => ({
      ...{ success: true, lastSyncId: this.state.comments.size },
      comment: () => this.state.show(comment),
    });
    return {
      commentCreate: ({ input }: { readonly input: CommentInput }) => {
        const comment = this.state.add(input, this.state.bot);
        const shown = this.state.showInWebhook(comment);
        void this.#tell('Comment', 'create', comment.user, shown);
        return done(comment);
      },
      commentUpdate: ({ id, input }: { readonly id: string; readonly input: CommentInput }) => {
        const comment = this.state.own(id);
        void this.edit(id, requireBody(input.body));
        return done(comment);
      },
      commentDelete: ({ id }: { readonly id: string }) => {
        this.state.own(id);
        void this.erase(id);
        return { success: true, lastSyncId: this.state.comments.size, entityId: id };
      },
      reactionCreate: ({ input }: { readonly input: ReactionInput }) => {
        const { reactions } = this.state.find(input.commentId);
        const reaction = { id: crypto.randomUUID(), emoji: input.emoji, user: this.state.bot };
        reactions.push(reaction);
        const data = { id: reaction.id, emoji: input.emoji, commentId: input.commentId };
        void this.#tell('Reaction', 'create', this.state.bot, {
          ...data,
          userId: this.state.bot.id,
        });
        return {
          success: true,
          lastSyncId: this.state.comments.size,
          reaction: showReaction(reaction),
        };
      },
      reactionDelete: ({ id }: { readonly id: string }) => {
        for (const { reactions } of this.state.comments.values()) {
          const index = reactions.findIndex((one) => one.id === id);
          if (index >= 0) reactions.splice(index, 1);
        }
        return { success: true, lastSyncId: this.state.comments.size, entityId: id };
      },
    };
  }
}
