import type { GalleryScreen } from './bubble.ts';

/**
 * The answer on the web page: the HTML of the printer, with the boxes that the page adds around
 * code and tables. All text is escaped, so a tag found in it is real.
 */
export const WEB: GalleryScreen = {
  id: 'web',
  name: 'Web page',
  target: { dialect: 'html', maxLength: 4_000_000, unit: 'utf16' },
  draw: ({ text }) => ({
    html: `<div class="answer"><div class="prose" dir="auto">${drawInBoxes(text)}</div></div>`,
    length: text.length,
  }),
};

function drawInBoxes(html: string): string {
  return html
    .replaceAll('<table>', '<div class="table-box"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll(/<pre>(<code class="language-([\w+#.-]+)">)?/g, (pre, _code, language = 'text') => {
      const bar = `<div class="code-bar"><span>${language}</span><span>Copy</span></div>`;
      return `<div class="code-box">${bar}<div class="code-scroll">${pre}`;
    })
    .replaceAll('</pre>', '</pre></div></div>');
}
