const IMAGE = /<img src="([^"]*)" alt="([^"]*)"[^>]*>/g;
const TAG = /<[^>]*>/g;
const REFERENCES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};

/**
 * The visible text of the HTML in an example of the CommonMark specification: no tags, and for an
 * image its description, or its address without one. Works only for HTML in these examples.
 */
export function readSpecHtmlText(html: string): string {
  return html
    .replaceAll(IMAGE, (_, address: string, description: string) =>
      description.trim() === '' ? address : description,
    )
    .replaceAll(TAG, '')
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (reference) => REFERENCES[reference] ?? reference);
}
