import type { ModelMessage, ModelRequest } from '../chat-model.ts';
import { AnswerSeparator } from './separator.ts';

/** A quick test whether an answer may contain anything to separate. */
const MAY_HOLD = /<|\[(?:\/?THINK|TOOL_)|◁|assistantfinal|my thought process/i;

/**
 * Creates a function that removes reasoning and written calls from the earlier answers in a
 * request: they were stored by an older version, or sent by a program that keeps its own history.
 * Each message is searched once.
 */
export function createReasoningRemover(): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<ModelMessage, ModelMessage>();
  const clean = (message: ModelMessage): ModelMessage => {
    if (message.role !== 'assistant' || !MAY_HOLD.test(message.content)) return message;
    const made = known.get(message) ?? removeReasoning(message);
    known.set(message, made);
    return made;
  };
  return (request) => {
    const messages = request.messages.map(clean);
    const isSame = messages.every((message, at) => message === request.messages[at]);
    return isSame ? request : { ...request, messages };
  };
}

function removeReasoning<Message extends ModelMessage>(message: Message): Message {
  const { content } = message;
  const separator = new AnswerSeparator({
    offered: [],
    start: 'text',
    wantsJson: false,
    isQuoted: () => false,
    maxCall: content.length,
  });
  let text = '';
  for (const piece of [...separator.push(content), ...separator.end(false)]) {
    if (piece.kind === 'text') text += piece.text;
    else if (piece.kind === 'restart') text = '';
  }
  return text === content ? message : { ...message, content: text };
}
