import { type ChatModel, ModelError, type ModelEvent, type ModelRequest } from './chat-model.ts';

/**
 * A smaller number of tokens is not a usable context window; such a number in a sentence refers to
 * something else. The minimum is the same as in the settings.
 */
const MIN_TOKENS = 2_048;

/**
 * Remembers the context window that a model's server states in the errors with which it refuses
 * longer requests. The number is stored in the model object, so it is learned again after a
 * restart.
 */
export function createWindowLearningModel(model: ChatModel): ChatModel {
  let learned: number | null = null;
  const learn = (tokens: number): void => {
    if (tokens >= MIN_TOKENS && (learned === null || tokens < learned))
      learned = Math.floor(tokens);
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    try {
      yield* model.stream(request, signal);
    } catch (thrown) {
      const said = thrown instanceof ModelError ? findLearnedWindow(thrown) : undefined;
      if (said !== undefined) learn(said);
      throw thrown;
    }
  }
  return {
    get id() {
      return model.id;
    },
    get learnedTokens() {
      return learned;
    },
    learnTokens: learn,
    stream,
  };
}

function findLearnedWindow({ failure }: ModelError): number | undefined {
  const isAboutLength = failure.kind === 'too-long' || failure.kind === 'output-limit';
  return isAboutLength ? failure.windowTokens : undefined;
}
