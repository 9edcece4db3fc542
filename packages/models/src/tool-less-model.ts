import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from './chat-model.ts';
import { ModelError } from './model-error.ts';
import { withSecondTry } from './second-try.ts';

const WITHOUT_TOOLS =
  'This model cannot call tools. Whatever tools are described above cannot be used now: answer with what you know, and say so where one would have been needed. Never pretend to have used one.';

/**
 * Offers tools only to a model that takes them. A server that refuses them is asked once more without,
 * and from then on always without: many small local models know no tools, and can still talk.
 */
export function toolLessModel(model: ChatModel): ChatModel {
  let takesTools = true;
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    if ((request.tools?.length ?? 0) === 0) return model.stream(request, signal);
    if (!takesTools) return model.stream(withoutTools(request), signal);
    return withSecondTry(model.stream(request, signal), signal, (failure) => {
      const refused = failure instanceof ModelError && failure.failure.kind === 'no-tools';
      if (!refused) return null;
      takesTools = false;
      return model.stream(withoutTools(request), signal);
    });
  }
  return {
    get id() {
      return model.id;
    },
    stream,
  };
}

/** What tools have said already, in a turn that another model began, is told in words. */
function withoutTools({ tools: _refused, system, messages, ...rest }: ModelRequest): ModelRequest {
  return {
    ...rest,
    system: [...system, { text: WITHOUT_TOOLS, stable: false }],
    messages: messages.map(inWords),
  };
}

function inWords(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return message;
  if (message.role === 'assistant') return { role: 'assistant', content: message.content };
  const { name, content } = message;
  return {
    role: 'user',
    content: `What the tool ${name} said, as data: ${JSON.stringify(content)}`,
  };
}
