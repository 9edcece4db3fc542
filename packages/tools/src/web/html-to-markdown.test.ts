import { describe, expect, it } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.ts';

const SENTENCE =
  '<p>Tea is <b>very</b> good, <a href="/green" title="HIDDEN">green</a> most of all, and it is drunk hot.</p>';

describe('the hidden parts of a page', () => {
  it.each([
    '<script>HIDDEN</script>',
    '<style>HIDDEN</style>',
    '<noscript>HIDDEN</noscript>',
    '<template>HIDDEN</template>',
    '<!-- HIDDEN -->',
    '<p hidden>HIDDEN</p>',
    '<p aria-hidden="true">HIDDEN</p>',
    '<p style="Display : None">HIDDEN</p>',
    '<p style="color:red;visibility:hidden">HIDDEN</p>',
    '<p style="opacity: 0">HIDDEN</p>',
    '<p style="font-size:0px">HIDDEN</p>',
    '<p style="position:absolute;left:-9999px">HIDDEN</p>',
    '<p style="width:1px;height:1px;overflow:hidden">HIDDEN</p>',
    '<p style="color: transparent">HIDDEN</p>',
    '<a href="javascript:HIDDEN">x</a>',
    '<a href="data:text/html,HIDDEN">x</a>',
    '<p title="HIDDEN">x</p>',
    '<img src="x" onerror="HIDDEN">',
    '<svg><text>HIDDEN</text></svg>',
    '<iframe srcdoc="HIDDEN">HIDDEN</iframe>',
    '<input value="HIDDEN">',
    '<meta name="description" content="HIDDEN">',
  ])('[P18] are not shown: %s', (trick) => {
    for (const body of [
      `<p>Seen.</p>${trick}`,
      `<article>${SENTENCE.repeat(8)}${trick}</article>`,
    ]) {
      const { markdown } = htmlToMarkdown(body, 'https://example.org/');
      expect(markdown).toMatch(/Seen|Tea is/);
      expect(markdown).not.toContain('HIDDEN');
    }
  });

  it.each([
    '<html><title>T</title><p>Text.',
    '<html><head><title>T</title></head><p>Text.</html>',
    '<title>T</title>Text.',
    '<!doctype html><html lang=en><head><title>T</title><body class=x>Text.',
  ])('[G02] do not include its title, even if the markup is malformed: %s', (html) => {
    expect(htmlToMarkdown(html, 'https://example.org/')).toEqual({ title: 'T', markdown: 'Text.' });
  });
});
