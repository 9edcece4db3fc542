/**
 * What chat templates of local models write between messages: a tokenizer that meets it in a text makes
 * the same control token of it, and the text could end its message and begin one of the system. The
 * families, by shape, so that a new model of a known family needs no new line:
 * `<|im_start|>`, `<｜User｜>`, `<|turn>` (ChatML, Llama, Qwen, Phi, GLM, Command, Granite, gpt-oss, DeepSeek, Gemma),
 * `<s>`, `<start_of_turn>`, `<tool_call>` … (SentencePiece, Gemma, Qwen, T5, StarCoder, Seed), `<<SYS>>` (Llama 2),
 * `[INST]`, `[gMASK]` … (Mistral, GLM, BERT), `[|user|]` (EXAONE), `]~b]` (MiniMax).
 * Tokenizers compare letter by letter: other cases, blanks and invisible letters in between make no token.
 */
const TOKEN = new RegExp(
  [
    String.raw`<[|｜][^\s<>|｜‹›⟦⟧]{1,64}[|｜]?>`,
    String.raw`<[^\s<>|｜‹›⟦⟧]{1,64}[|｜]>`,
    String.raw`<\/?(?:s|bos|pad|unk|eo[acdhps]|sop|think|tool_(?:call|response)s?|(?:start|end|begin(?:ning)?)_of_\w{1,32}|(?:image|audio)_soft_token|fim_\w{1,32}|extra_id_\d+|reserved_\d+|unused\d+|SPECIAL_\d+|[A-Z_]{2,32}_TOKEN|seed:[\w:]{1,32})>`,
    String.raw`<<\/?SYS>>`,
    String.raw`\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS|CALL_ID|THINK|MODEL_SETTINGS|IMG(?:_BREAK|_END)?|(?:BEGIN_)?AUDIO|TRANSCRIBE|PREFIX|MIDDLE|SUFFIX|[gs]?MASK|CLS|SEP|BOS|EOS|EOT|PAD|UNK|control_\d+)\]`,
    String.raw`\[[|｜][^\s[\]‹›⟦⟧]{1,64}[|｜]\]`,
    String.raw`\]~!?\w{1,16}[[\]]|\[e~\[|\]<\][^\s[\]<>‹›⟦⟧]{1,64}\[>\[`,
  ].join('|'),
  'g',
);
const LOOKALIKES: Readonly<Record<string, string>> = { '<': '‹', '>': '›', '[': '⟦', ']': '⟧' };

/**
 * The text with other brackets around each token of a chat template: `‹|im_start|›`, `⟦INST⟧`. People and
 * models read it as before, no tokenizer takes it for its own, the length stays, and so does the result
 * when it is done twice.
 */
export function withoutTemplateTokens(text: string): string {
  if (!text.includes('<') && !text.includes('[') && !text.includes(']')) return text;
  return text.replace(TOKEN, (token) =>
    token.replace(/[<>[\]]/g, (bracket) => LOOKALIKES[bracket] ?? bracket),
  );
}
