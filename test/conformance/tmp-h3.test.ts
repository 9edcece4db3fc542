import fc from 'fast-check';
import { it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { checkDocument } from './markup/check-document.ts';
import { expectedOfMarkdown } from './markup/tree-reference.ts';
import { mustShow, seenWords } from './markup/word-formats.ts';

const DIALECTS = (process.env.H3 ?? 'slack,google-chat,teams,gfm').split(',') as 'slack'[];
const LIMITS = [2000, 4096, 1000, 600, 300, 150, 80, 60, 24, 16];
const N = Number(process.env.N ?? 1000);
const seed = Number(process.env.SEED ?? Date.now() % 1e9);

it('fuzz', { timeout: 1e9 }, () => {
  const docs = fc.sample(
    process.env.KIND === 'well'
      ? sampleDocument
      : mutatedMarkdown.map((markdown) => ({ markdown, formats: new Map() })),
    { numRuns: N, seed },
  );
  let failures = 0;
  let doubtful = 0;
  const started = performance.now();
  for (const [index, doc] of docs.entries()) {
    if (index < Number(process.env.FROM ?? 0)) continue;
    if (performance.now() - started > Number(process.env.MS ?? 100000)) {
      console.log('stopped at', index);
      break;
    }
    const dialect = DIALECTS[index % DIALECTS.length] as 'slack';
    const unit = (['utf16', 'codepoint', 'byte'] as const)[index % 3] as 'utf16';
    const target = { dialect, unit, maxLength: LIMITS[(index * 7) % LIMITS.length] as number };
    const run = (markdown: string): string | undefined => {
      try {
        const readings =
          process.env.KIND === 'well'
            ? [...expectedOfMarkdown(markdown).take(1)]
            : expectedOfMarkdown(markdown);
        const { exact, seen: parts } = checkDocument(markdown, target, readings);
        if (!exact) doubtful += 1;
        if (process.env.KIND === 'well' && markdown === doc.markdown) {
          const seen = seenWords(parts);
          for (const [word, formats] of doc.formats) {
            const found = seen.get(word);
            const must = mustShow(formats, found, target);
            for (const f of must)
              if (!found?.formats.includes(f))
                return `FORMAT ${word} ${f} not in ${found?.formats}`;
          }
        }
        return undefined;
      } catch (error) {
        return String(error);
      }
    };
    let message = run(doc.markdown);
    if (message === undefined) continue;
    try {
      checkDocument(
        doc.markdown,
        { dialect: 'html', unit: 'utf16', maxLength: 100000 },
        expectedOfMarkdown(doc.markdown),
      );
    } catch {
      continue;
    }
    let text = doc.markdown;
    if (process.env.NORED) console.log('ORIGINAL', JSON.stringify(doc.markdown), message);
    for (const sep of process.env.NORED ? [] : ['\n\n', '\n', ' ', '']) {
      for (let again = true; again; ) {
        again = false;
        const pieces = text.split(sep);
        if (pieces.length > 400) break;
        for (let i = 0; i < pieces.length; i += 1) {
          const less = pieces.toSpliced(i, 1).join(sep);
          const other = run(less);
          if (
            other !== undefined &&
            other.slice(0, 60).replace(/\d+/g, '') === message.slice(0, 60).replace(/\d+/g, '')
          ) {
            text = less;
            message = other;
            again = true;
            break;
          }
        }
      }
    }
    failures += 1;
    console.log(
      `#### seed ${seed} doc ${index} ${JSON.stringify(target)}\n${JSON.stringify(text)}\n${message.replaceAll('\u2060', '⁂').replaceAll('\u200b', '·')}`,
    );
    if (failures >= Number(process.env.F ?? 4)) break;
  }
  console.log('seed', seed, 'failures', failures, 'doubtful', doubtful);
});
