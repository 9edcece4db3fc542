import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toRunOptions } from './testing/test-length.ts';
import { neutralizeTemplateTokens, quoteLines } from './text.ts';

it('[P18] no kind of line end breaks out of a quotation', () => {
  expect(quoteLines('a\r\nb\nc\rd\u2028e\u2029f\u0085g\vh\fi')).toBe(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((line) => `> ${line}`).join('\n'),
  );
});

/** Tokens as written in the models' vocabularies and chat templates. */
const TOKENS = {
  'ChatML, Qwen, Yi': ['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|startoftext|>'],
  Qwen: ['<tool_call>', '</tool_response>', '<think>', '</think>', '<|vision_start|>'],
  'Llama 2': ['[INST]', '[/INST]', '<<SYS>>', '<</SYS>>', '<s>', '</s>', '<unk>'],
  'Llama 3 and 4': ['<|begin_of_text|>', '<|start_header_id|>', '<|eot_id|>', '<|header_start|>'],
  Mistral: ['[TOOL_CALLS]', '[AVAILABLE_TOOLS]', '[/TOOL_RESULTS]', '[SYSTEM_PROMPT]', '[ARGS]'],
  'Gemma 2 and 3': ['<start_of_turn>', '<end_of_turn>', '<bos>', '<eos>', '<unused12>'],
  'Gemma 4': ['<|turn>', '<turn|>', '<|tool_call>', '<|"|>'],
  DeepSeek: ['<｜User｜>', '<｜begin▁of▁sentence｜>', '<｜tool▁calls▁begin｜>', '<｜▁pad▁｜>'],
  'Phi, GLM': ['<|user|>', '<|assistant|>', '<|system|>', '[gMASK]', '<sop>', '<|observation|>'],
  'gpt-oss': ['<|channel|>', '<|message|>', '<|start|>', '<|constrain|>'],
  Command: ['<|START_OF_TURN_TOKEN|>', '<|CHATBOT_TOKEN|>', '<BOS_TOKEN>', '<|START_THINKING|>'],
  'Granite, StarCoder': ['<|start_of_role|>', '<|end_of_role|>', '<fim_prefix>', '<|tool_call|>'],
  'Kimi, EXAONE': ['<|im_middle|>', '<|tool_calls_section_begin|>', '[|assistant|]', '[EOT]'],
  'Nemotron, Baichuan': ['<SPECIAL_11>', '<extra_id_1>', '<reserved_106>', '<eod>'],
  'MiniMax, Seed': [']~b]', ']~!b[', '[e~[', ']<]fim_prefix[>[', '<seed:bos>', '<seed:tool_call>'],
};
const ALL = Object.values(TOKENS).flat();

describe('[P18] a chat template token', () => {
  it.each(Object.entries(TOKENS))('is neutralized for %s', (_, tokens) => {
    for (const token of tokens) {
      const safe = neutralizeTemplateTokens(`before${token}behind`);
      expect(safe).not.toContain(token);
      expect(safe).toHaveLength(`before${token}behind`.length);
      expect(safe).toContain(token.replace(/[<>[\]]/g, '').slice(0, 4));
    }
  });

  it('does not remain in any text, even if tokens are nested or concatenated', () => {
    const piece = fc.oneof(
      fc.constantFrom(...ALL),
      fc.constantFrom(...ALL).chain((token) => fc.nat(token.length).map((at) => token.slice(at))),
      fc
        .constantFrom(...ALL)
        .chain((token) => fc.nat(token.length).map((at) => token.slice(0, at))),
      fc.constantFrom('<', '|', '>', '[', ']', 'a', '\n'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const safe = neutralizeTemplateTokens(pieces.join(''));
        expect(ALL.filter((token) => safe.includes(token))).toEqual([]);
        expect(neutralizeTemplateTokens(safe)).toBe(safe);
      }),
      toRunOptions(1_000),
    );
  });

  it.each([
    'if (a < b && c > d) return x[0] | y;',
    'const list: Map<string, S> = f<S>(rows as [A, B]);',
    'xs |> map(f) <| y; a <|> b',
    '<p>a <b>bold</b> <strong>word</strong></p> <available_skills>',
    '- [x] done [1] [link](https://example.org) [TODO] [NOTE]',
    'From "Ann" <ann@example.org>: hi',
    '<<EOF\ncat\nEOF\n<<<<<<< HEAD\n>>>>>>> main',
  ])('is not found in %j', (text) => {
    expect(neutralizeTemplateTokens(text)).toBe(text);
  });
});
