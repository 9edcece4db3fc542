import { Refusal } from './api-server.ts';

/** A user in a comment, in the format of the API. */
export interface GitHubUser {
  readonly login: string;
  readonly id: number;
  readonly node_id: string;
  readonly avatar_url: string;
  readonly html_url: string;
  readonly type: 'User' | 'Bot' | 'Organization';
  readonly site_admin: boolean;
}

/** A comment on a conversation, or on a line of a diff. */
export interface GitHubComment {
  readonly id: number;
  readonly kind: 'issue' | 'review';
  readonly repository: string;
  readonly issue: number;
  readonly user: GitHubUser;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
  /** The first comment of the diff thread, unless this comment is the first one. */
  readonly inReplyTo?: number | undefined;
  readonly reactions: {
    readonly id: number;
    readonly user: GitHubUser;
    readonly content: string;
  }[];
}

interface GitHubIssue {
  readonly number: number;
  readonly title: string;
  readonly isPullRequest: boolean;
  readonly author: GitHubUser;
  locked: boolean;
}

/** The maximum length of a comment body, in characters. */
const MAX_BODY_LENGTH = 65_536;
const DOCUMENTATION = 'https://docs.github.com/rest';
const REACTIONS = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'];

/** Repositories, issues, comments and users, with the validation rules of the API. */
export class GitHubState {
  readonly users = new Map<string, GitHubUser>();
  readonly comments = new Map<number, GitHubComment>();
  readonly #issues = new Map<string, GitHubIssue>();
  readonly #apiRoot: () => string;
  #nextId = 1_000_001;

  constructor(apiRoot: () => string) {
    this.#apiRoot = apiRoot;
  }

  newId(): number {
    this.#nextId += 1;
    return this.#nextId;
  }

  user(login: string, type: GitHubUser['type'] = 'User'): GitHubUser {
    const known = this.users.get(login);
    if (known !== undefined) return known;
    const id = this.newId();
    const user: GitHubUser = {
      ...{ login, id, node_id: `U_${id}`, type, site_admin: false },
      avatar_url: `https://avatars.githubusercontent.com/u/${id}`,
      html_url: `https://github.com/${login}`,
    };
    this.users.set(login, user);
    return user;
  }

  openIssue(repository: string, title: string, isPullRequest: boolean, author: string): number {
    const number = this.#issues.size + 1;
    const issue = { number, title, isPullRequest, author: this.user(author), locked: false };
    this.#issues.set(`${repository}#${number}`, issue);
    return number;
  }

  /**
   * A locked conversation does not accept comments from people without write access, such as the
   * bot.
   */
  lock(repository: string, number: number): void {
    this.issue(repository, number).locked = true;
  }

  issue(repository: string, number: number): GitHubIssue {
    const issue = this.#issues.get(`${repository}#${number}`);
    if (issue === undefined) throw notFound();
    return issue;
  }

  comment(kind: GitHubComment['kind'], id: number): GitHubComment {
    const comment = this.comments.get(id);
    if (comment === undefined || comment.kind !== kind) throw notFound();
    return comment;
  }

  conversation(repository: string, issue: number, kind: GitHubComment['kind']): GitHubComment[] {
    return [...this.comments.values()].filter(
      (one) => one.repository === repository && one.issue === issue && one.kind === kind,
    );
  }

  add(
    comment: Pick<GitHubComment, 'kind' | 'repository' | 'issue' | 'user' | 'inReplyTo'>,
    body: unknown,
  ) {
    const { locked } = this.issue(comment.repository, comment.issue);
    if (locked) throw refuse(403, 'Unable to create comment because issue is locked.');
    const at = now();
    const id = this.newId();
    const text = requireBody(body);
    const added = { ...comment, id, body: text, createdAt: at, updatedAt: at, reactions: [] };
    this.comments.set(id, added);
    return added;
  }

  /** If the user already has the reaction, it is returned unchanged, as by the API. */
  react(comment: GitHubComment, user: GitHubUser, content: unknown) {
    if (typeof content !== 'string' || !REACTIONS.includes(content)) {
      throw createInvalid('Reaction', 'content', 'invalid');
    }
    const had = comment.reactions.find((one) => one.user.id === user.id && one.content === content);
    if (had !== undefined) return { status: 200, reaction: had };
    const reaction = { id: this.newId(), user, content };
    comment.reactions.push(reaction);
    return { status: 201, reaction };
  }

  /** A comment in the format of the API and the webhooks. */
  show(comment: GitHubComment): object {
    const { id, kind, repository, issue, user, body, createdAt, updatedAt, inReplyTo } = comment;
    const path = kind === 'issue' ? 'issues' : 'pulls';
    const api = `${this.#apiRoot()}/repos/${repository}`;
    return {
      id,
      node_id: `IC_${id}`,
      url: `${api}/${path}/comments/${id}`,
      html_url: `https://github.com/${repository}/${path}/${issue}#issuecomment-${id}`,
      user,
      body,
      created_at: createdAt,
      updated_at: updatedAt,
      author_association: 'CONTRIBUTOR',
      reactions: { url: `${api}/${path}/comments/${id}/reactions`, ...countReactions(comment) },
      ...(kind === 'issue' ? { issue_url: `${api}/issues/${issue}` } : DIFF_POSITION),
      ...(inReplyTo === undefined ? {} : { in_reply_to_id: inReplyTo }),
    };
  }

  showIssue(repository: string, number: number): object {
    const { title, isPullRequest, author, locked } = this.issue(repository, number);
    const api = `${this.#apiRoot()}/repos/${repository}`;
    return {
      ...{ id: number, number, title, user: author, locked, state: 'open', body: null },
      labels: [],
      assignees: [],
      html_url: `https://github.com/${repository}/${isPullRequest ? 'pull' : 'issues'}/${number}`,
      ...(isPullRequest ? { pull_request: { url: `${api}/pulls/${number}` } } : {}),
    };
  }

  showRepository(fullName: string): object {
    const [owner = '', name = ''] = fullName.split('/');
    return { id: 1, name, full_name: fullName, private: true, owner: this.user(owner) };
  }
}

/** The position of diff comments; the doubles have a single line. */
const DIFF_POSITION = {
  ...{ path: 'README.md', line: 1, original_line: 1, side: 'RIGHT', diff_hunk: '@@ -1 +1 @@' },
  ...{ commit_id: '0'.repeat(40), original_commit_id: '0'.repeat(40), start_line: null },
};

function countReactions({ reactions }: GitHubComment): object {
  const count = (content: string) => reactions.filter((one) => one.content === content).length;
  const all = Object.fromEntries(REACTIONS.map((content) => [content, count(content)]));
  return { total_count: reactions.length, ...all };
}

/** Times have no fractions of a second. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** @throws Refusal 422 when the body is empty or too long */
export function requireBody(body: unknown): string {
  if (typeof body !== 'string' || body.trim() === '') {
    throw createInvalid('IssueComment', 'body', 'missing_field');
  }
  if ([...body].length > MAX_BODY_LENGTH) {
    const message = `body is too long (maximum is ${MAX_BODY_LENGTH} characters)`;
    throw createInvalid('IssueComment', 'body', 'custom', message);
  }
  return body;
}

export const notFound = () => refuse(404, 'Not Found');

export const refuse = (status: number, message: string) =>
  new Refusal(status, { message, documentation_url: DOCUMENTATION, status: String(status) });

function createInvalid(resource: string, field: string, code: string, message?: string): Refusal {
  const errors = [{ resource, field, code, ...(message === undefined ? {} : { message }) }];
  const body = { message: 'Validation Failed', errors, documentation_url: DOCUMENTATION };
  return new Refusal(422, { ...body, status: '422' });
}
