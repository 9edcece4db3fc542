import { Refusal } from './api-server.ts';
import type { GraphQlObject } from './graphql.ts';

/** A member of the workspace. */
export interface LinearUser {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly email: string;
  readonly url: string;
}

/** A comment on an issue, or a reply to a comment. */
export interface LinearComment {
  readonly id: string;
  readonly issueId: string;
  readonly user: LinearUser;
  /** The comment was written by an integration, so it does not have a user. */
  readonly isByApp: boolean;
  readonly parentId: string | undefined;
  readonly createdAt: string;
  updatedAt: string;
  body: string;
  readonly reactions: { readonly id: string; readonly emoji: string; readonly user: LinearUser }[];
}

interface LinearIssue {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
}

/** The documentation does not name a limit; this limit prevents text of unlimited size. */
const MAX_BODY_LENGTH = 65_536;

/** Users, issues and comments as objects of the GraphQL schema and of webhooks. */
export class LinearState {
  readonly organizationId = '00000000-1111-4222-8333-444444444444';
  readonly comments = new Map<string, LinearComment>();
  readonly users = new Map<string, LinearUser>();
  readonly #issues = new Map<string, LinearIssue>();
  readonly #closed = new Set<string>();
  readonly bot: LinearUser = this.user('parley');

  user(name: string): LinearUser {
    const known = this.users.get(name);
    if (known !== undefined) return known;
    const user = {
      ...{ id: crypto.randomUUID(), name, displayName: name, email: `${name}@example.com` },
      url: `https://linear.app/acme/profiles/${name}`,
    };
    this.users.set(name, user);
    return user;
  }

  openIssue(title: string): string {
    const id = crypto.randomUUID();
    this.#issues.set(id, { id, title, identifier: `ENG-${this.#issues.size + 1}` });
    return id;
  }

  /** The comments on an issue, oldest first. */
  conversation(issueId: string): readonly LinearComment[] {
    return [...this.comments.values()].filter((comment) => comment.issueId === issueId);
  }

  /**
   * Removes the bot's access to the team of an issue, after which the issue does not exist for the
   * bot.
   */
  close(issueId: string): void {
    this.#closed.add(issueId);
  }

  add(input: CommentInput, user: LinearUser, isByApp = false): LinearComment {
    const { id, issueId = '', body, parentId } = input;
    const isVisible = user !== this.bot || !this.#closed.has(issueId);
    if (!this.#issues.has(issueId) || !isVisible) throw notFound('Issue');
    const root = parentId === undefined || parentId === null ? undefined : this.find(parentId);
    if (root?.parentId !== undefined) {
      throw createRefusal(200, 'INVALID_INPUT', 'Parent comment must be a top level comment.');
    }
    if (id !== undefined && this.comments.has(id)) {
      throw createRefusal(200, 'INVALID_INPUT', 'A comment with this id exists already.');
    }
    const createdAt = new Date().toISOString();
    const comment: LinearComment = {
      ...{ id: id ?? crypto.randomUUID(), issueId, user, isByApp },
      ...{ parentId: root?.id, reactions: [] },
      ...{ createdAt, updatedAt: createdAt, body: requireBody(body) },
    };
    this.comments.set(comment.id, comment);
    return comment;
  }

  find(id: string): LinearComment {
    const comment = this.comments.get(id);
    if (comment === undefined) throw notFound('Comment');
    return comment;
  }

  own(id: string): LinearComment {
    const comment = this.find(id);
    if (comment.user === this.bot) return comment;
    throw createRefusal(200, 'FORBIDDEN', 'You can only change your own comments.');
  }

  showUser({ ...user }: LinearUser): GraphQlObject {
    const times = { createdAt: EPOCH, updatedAt: EPOCH };
    const organization = { id: this.organizationId, name: 'Acme', ...times };
    return { ...user, ...times, active: true, admin: false, guest: false, organization };
  }

  showIssue(id: string): GraphQlObject {
    const issue = this.#issues.get(id);
    if (issue === undefined) throw notFound('Issue');
    const roots = this.conversation(id);
    return {
      ...{ ...issue, createdAt: EPOCH, updatedAt: EPOCH },
      url: `https://linear.app/acme/issue/${issue.identifier}`,
      ...{ labelIds: [], previousIdentifiers: [], reactions: [], reactionData: [] },
      sharedAccess: { isShared: false, sharedWithUsers: [], disallowedIssueFields: [] },
      comments: (args: PageArgs) => this.page(roots, args),
    };
  }

  show(comment: LinearComment): GraphQlObject {
    const { user, isByApp, issueId, parentId, reactions, ...plain } = comment;
    const parent = parentId === undefined ? null : { id: parentId };
    return {
      ...plain,
      url: `https://linear.app/acme/issue#comment-${comment.id}`,
      ...{ issueId, parentId: parentId ?? null, parent },
      issue: () => this.showIssue(issueId),
      user: () => (isByApp ? null : this.showUser(user)),
      botActor: isByApp ? appOf(user) : null,
      reactions: reactions.map(showReaction),
      reactionData: [],
      children: (args: PageArgs) =>
        this.page(
          this.conversation(issueId).filter((one) => one.parentId === comment.id),
          args,
        ),
    };
  }

  /** A comment in the format of webhooks. */
  showInWebhook(comment: LinearComment): object {
    const { user, isByApp, reactions: _, ...plain } = comment;
    const { displayName: __, ...author } = user;
    const by = isByApp ? { botActor: appOf(user) } : { userId: user.id, user: author };
    const url = 'https://linear.app/acme/issue/ENG-1';
    const issue = { ...this.#issues.get(comment.issueId), teamId: 'team', url };
    return { ...plain, ...by, reactionData: [], issue };
  }

  /** Newest first, the default order of comments in Linear. */
  page(found: readonly LinearComment[], { first, last, after }: PageArgs): GraphQlObject {
    const ordered = found.toReversed();
    const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
    const size = first ?? last ?? 50;
    const nodes = last === undefined ? ordered.slice(from, from + size) : ordered.slice(-last);
    const pageInfo = {
      hasNextPage: last === undefined && from + size < ordered.length,
      hasPreviousPage: last === undefined ? from > 0 : ordered.length > last,
      startCursor: nodes[0]?.id ?? null,
      endCursor: nodes.at(-1)?.id ?? null,
    };
    return { nodes: nodes.map((one) => this.show(one)), pageInfo };
  }
}

interface PageArgs {
  readonly first?: number;
  readonly last?: number;
  readonly after?: string;
}

interface IdFilter {
  readonly id?: { readonly eq?: string };
}

export interface CommentArgs extends PageArgs {
  readonly filter?: { readonly parent?: IdFilter; readonly issue?: IdFilter };
}

export interface CommentInput {
  /** An id chosen by the caller; a second creation with the same id fails. */
  readonly id?: string;
  readonly issueId?: string;
  readonly body?: unknown;
  readonly parentId?: string | null | undefined;
}

export interface ReactionInput {
  readonly commentId: string;
  readonly emoji: string;
}

const appOf = ({ id, name }: LinearUser): object => ({ id, name, type: 'integration' });

const EPOCH = '2026-01-01T00:00:00.000Z';

export function showReaction({
  id,
  emoji,
  user,
}: LinearComment['reactions'][number]): GraphQlObject {
  return { id, emoji, user: { id: user.id }, createdAt: EPOCH, updatedAt: EPOCH };
}

export function requireBody(body: unknown): string {
  if (typeof body !== 'string' || body.trim() === '') {
    throw createRefusal(200, 'INVALID_INPUT', 'Argument Validation Error: body must not be empty.');
  }
  if (body.length > MAX_BODY_LENGTH) {
    throw createRefusal(200, 'INVALID_INPUT', 'Argument Validation Error: body is too long.');
  }
  return body;
}

export const notFound = (what: string) =>
  createRefusal(200, 'INPUT_ERROR', `Entity not found: ${what}`);

export function createRefusal(status: number, code: string, message: string): Refusal {
  const presentable = { userError: true, userPresentableMessage: message };
  const extensions = { code, type: code.toLowerCase().replace('_', ' '), ...presentable };
  return new Refusal(status, { errors: [{ message, extensions }], data: null });
}
