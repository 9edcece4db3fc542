import { readSlackContent } from './content.ts';
import type { Interaction } from './interactions.ts';
import {
  changeMessage,
  findThread,
  getBotFields,
  getReplyFields,
  postAsBot,
  removeMessage,
} from './posting.ts';
import { RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import { isRecord, type Json, type WireMessage } from './wire.ts';
import { storeMessage } from './workspace.ts';

/**
 * Applies the bot's response to an interaction: posts a message for the person or for everyone,
 * replaces the original message or deletes it.
 * @throws Refusal when the content of the response is invalid
 */
export function applyInteractionResponse(
  servers: SlackServers,
  interaction: Interaction,
  wish: Json,
): void {
  const { workspace } = servers;
  const { channel, message, user } = interaction;
  if (channel === undefined) return;
  if (wish.delete_original === true) {
    if (message !== undefined) removeMessage(servers, channel, message, workspace.bot.id);
    return;
  }
  const content = readSlackContent(workspace, new RequestArguments(wish));
  const thread = typeof wish.thread_ts === 'string' ? wish.thread_ts : undefined;
  if (wish.replace_original === true && message !== undefined) {
    changeMessage(servers, channel, message, content);
    return;
  }
  const reply = getReplyFields(channel, findThread(channel, thread));
  if (wish.response_type === 'in_channel') {
    postAsBot(servers, channel, content, reply);
    return;
  }
  const { text, blocks } = content;
  const wire: WireMessage = {
    ...getBotFields(workspace),
    ts: workspace.ids.ts(),
    text,
    blocks,
    ...reply,
  };
  storeMessage(workspace, channel, wire, { onlyFor: user });
}

/**
 * Returns the response in an acknowledgement, which is an object with content or plain text;
 * undefined when there is none.
 */
export function findResponse(body: unknown): Json | undefined {
  if (typeof body === 'string') return body.trim() === '' ? undefined : { text: body };
  if (!isRecord(body)) return undefined;
  return body.text === undefined && body.blocks === undefined ? undefined : body;
}
