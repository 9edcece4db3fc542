/** Names with which a router chooses the model, so any model may answer. */
const CHOOSES =
  /(^|[/:_-])(auto|default|router|latest|best|fast(est)?|cheap(est)?|free)$|^(auto|default|router|local-model|model|any)$/i;
/** Placeholder names that servers report instead of the model. */
const SAYS_NOTHING =
  /^(|none|null|unknown|default|model|local-model|gpt-3\.5-turbo-local|chat|llm)$/i;

/**
 * Whether a server clearly answered with a different model than requested. A dated version, path,
 * provider prefix, tag, quantization or file extension does not make it a different model.
 */
export function isOtherModel(asked: string, served: string | null | undefined): boolean {
  if (served == null || SAYS_NOTHING.test(served.trim()) || CHOOSES.test(asked.trim()))
    return false;
  const [one, other] = [splitModelName(asked), splitModelName(served)];
  if (one.length === 0 || other.length === 0) return false;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  const extra = subtractWords(long, short);
  // Extra words in a name that do not make it a different model.
  return extra === null || extra.some((word) => !isDetailWord(word));
}

/**
 * Returns the words in a name, without the part before its last slash and without a tag after a
 * colon or an at sign.
 */
function splitModelName(name: string): readonly string[] {
  const path = name
    .trim()
    .toLowerCase()
    .replace(/[\\/]+$/, '');
  const last = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const plain = last
    .replace(/\.(gguf|ggml|bin|safetensors|onnx|mlx)$/, '')
    .replace(/[@#].*$/, '')
    // Region and vendor prefixes of Bedrock names, and version suffixes.
    .replace(
      /^(?:(?:us|eu|apac|jp|au|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|deepseek|qwen|openai)\./,
      '',
    )
    .replace(/-v\d+(?::\d+)?$/, '')
    // Words for the storage format of a model's weights.
    .replace(
      /[-_.:](?:i?q\d(?:_[^\W_]+)*|fp\d+|bf16|f16|f32|int\d+|\dbit|awq|gptq|nvfp4|mxfp4)$/,
      '',
    );
  return plain.split(/[\s:_.-]+|(?<=[a-z])(?=\d)/).filter((word) => word !== '');
}

/**
 * Returns the words of `long` that remain after those of `short` are removed in order; null if one
 * is missing.
 */
function subtractWords(
  long: readonly string[],
  short: readonly string[],
): readonly string[] | null {
  const rest: string[] = [];
  let at = 0;
  for (const word of long) {
    if (at < short.length && word === short[at]) at += 1;
    else rest.push(word);
  }
  return at === short.length ? rest : null;
}

const DETAIL =
  /^(\d{4}|\d{6}|\d{8}|\d{2}|v\d*|latest|preview|exp|experimental|beta|stable|rc|instruct|it|chat|hf|free|extended|online|thinking|nitro|floor|exacto|turbo-?preview|gguf|ggml|mlx|awq|gptq|exl\d|fp\d+|bf\d+|int\d+|bnb|bit|[iq]?q\d\w*|\d+bit|k|m|s|xs|xl|l|f16|f32|us|eu|apac|global|anthropic|amazon|meta|mistral|openai|google|cohere|deepseek|qwen|model|models|accounts|fireworks|maas|tput|fast)$/;

function isDetailWord(word: string): boolean {
  return DETAIL.test(word);
}
