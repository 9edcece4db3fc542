import type { ApiCall, Routes } from './api-server.ts';
import {
  createRefusal,
  escapeHtml,
  getVisibleText,
  type TeamsConversation,
  type TeamsMessage,
  type TeamsState,
} from './teams-state.ts';

/** The maximum page size for messages. */
const MAX_PAGE = 50;

/**
 * The part of Microsoft Graph that reads the messages of chats and channels.
 * @param checkToken throws a refusal unless the call has a valid token
 */
export function createGraphRoutes(
  state: TeamsState,
  appId: string,
  checkToken: (call: ApiCall) => void,
): Routes {
  const show = (message: TeamsMessage) => showMessage(message, appId);
  const channel = (call: ApiCall) => {
    checkToken(call);
    return state.find(call.params.channel ?? '').conversation;
  };
  const message = '/v1.0/teams/:team/channels/:channel/messages/:message';
  return {
    'GET /v1.0/chats/:chat/messages': (call) => {
      checkToken(call);
      const { messages } = findChat(state, call.params.chat ?? '');
      return { status: 200, body: { value: selectPage(messages, call.url).map(show) } };
    },
    'GET /v1.0/teams/:team/channels/:channel': (call) => {
      const { id } = channel(call);
      return { status: 200, body: { id, displayName: `The channel ${id}` } };
    },
    [`GET ${message}/replies`]: (call) => {
      const root = call.params.message;
      const replies = channel(call).messages.filter(
        (one) => one.thread === root && one.id !== root,
      );
      return { status: 200, body: { value: selectPage(replies, call.url).map(show) } };
    },
    [`GET ${message}`]: (call) => ({
      status: 200,
      body: show(state.message(channel(call), call.params.message ?? '')),
    }),
  };
}

/** Graph identifies a direct chat by the person and the app instead of the conversation. */
function findChat(state: TeamsState, id: string): TeamsConversation {
  const [, aadObjectId] = /^19:([\w-]+)_[\w-]+@unq\.gbl\.spaces$/.exec(id) ?? [];
  if (aadObjectId === undefined) return state.find(id).conversation;
  const found = [...state.conversations.values()].find(
    ({ type, members }) =>
      type === 'personal' && [...members.values()].some((one) => one.aadObjectId === aadObjectId),
  );
  if (found === undefined) throw createRefusal(404, 'NotFound', 'No such chat.');
  return found;
}

/** Newest first, unless the query requests another order. */
function selectPage(
  messages: readonly TeamsMessage[],
  { searchParams }: URL,
): readonly TeamsMessage[] {
  const filter = searchParams.get('$filter') ?? '';
  const [, relation, moment = 0] = /createdDateTime (lt|gt) (\S+)/.exec(filter) ?? [];
  const bound = new Date(moment);
  const wanted = messages.filter(({ createdAt }) => {
    if (relation === undefined) return true;
    return relation === 'lt' ? createdAt < bound : createdAt > bound;
  });
  const isAscending = searchParams.get('$orderby')?.endsWith('asc') === true;
  const ordered = isAscending ? wanted : wanted.reverse();
  return ordered.slice(0, Math.min(Number(searchParams.get('$top') ?? 20), MAX_PAGE));
}

function showMessage(message: TeamsMessage, appId: string): object {
  const { id, from, createdAt } = message;
  const lines = getVisibleText(message).split('\n').map(escapeHtml);
  const application = { id: appId, displayName: 'Parley', applicationIdentityType: 'bot' };
  return {
    ...{ id, messageType: 'message', createdDateTime: createdAt.toISOString() },
    from:
      from === 'bot'
        ? { application, user: null }
        : { application: null, user: { id: from.aadObjectId, displayName: from.name } },
    body: { contentType: 'html', content: lines.map((line) => `<p>${line}</p>`).join('\n') },
    ...{ attachments: [], mentions: [], reactions: [], lastModifiedDateTime: null },
  };
}
