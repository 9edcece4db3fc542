import type { PromptMessage, PromptPlace, SentPrompt } from '@parley/contracts';

/** What is told of a prompt without its texts. Sizes are those of its parts; tokens are estimates. */
export interface PromptSummary {
  readonly turnId: string;
  readonly conversationId: string;
  readonly at: number;
  readonly layout: string;
  /** `provider/model` as it was known before the call. */
  readonly model: string;
  readonly characters: number;
  readonly tokens: number;
  readonly place: PromptPlace;
  /** The platform's ids of the messages that the turn answered. */
  readonly messageIds: readonly string[];
}

/** The whole prompt of a turn. */
export interface StoredPrompt extends PromptSummary, SentPrompt {
  /** Names of the tools the model could call. */
  readonly tools: readonly string[];
  readonly messages: readonly PromptMessage[];
}

/** What a turn has to say of its prompt; sizes and hashes are made here. */
export interface NewPrompt
  extends Omit<StoredPrompt, 'characters' | 'tokens' | 'messages'>,
    SentPrompt {
  readonly messages: readonly { readonly role: PromptMessage['role']; readonly content: string }[];
}

/** Which prompts to list; all that is given must hold. */
export interface PromptSearch {
  /** A conversation, or the platform's id of a chat. */
  readonly chat?: string | undefined;
  /** The platform's id of a message that the turn answered. */
  readonly messageId?: string | undefined;
  /** Older than this one, for the next page. */
  readonly before?: { readonly at: number; readonly turnId: string } | undefined;
  readonly limit: number;
}

/** The prompts of the last days, for whoever wants to know what a model was told (P17). */
export interface PromptRepository {
  /**
   * Keeps the prompt of a turn; a turn that is run again replaces its own. Texts that are known are
   * not written again. A power cut may take the last ones: they explain, nothing depends on them.
   */
  record(prompt: NewPrompt): Promise<void>;
  /** Null when the turn is not known, or too old. */
  ofTurn(turnId: string): Promise<StoredPrompt | null>;
  /** Newest first. */
  list(search: PromptSearch): Promise<readonly PromptSummary[]>;
}
