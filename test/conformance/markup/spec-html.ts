const IMAGE = /<img src="([^"]*)" alt="([^"]*)"[^>]*>/g;
const TAG = /<[^>]*>/g;
const REFERENCES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};

/**
 * What people see of the HTML that CommonMark's specification expects of an example: no tags; for
 * an image its description, or its address if it has none. Valid only for that HTML.
 */
export function textOfSpecHtml(html: string): string {
  return html
    .replaceAll(IMAGE, (_, address: string, description: string) =>
      description.trim() === '' ? address : description,
    )
    .replaceAll(TAG, '')
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (reference) => REFERENCES[reference] ?? reference);
}
