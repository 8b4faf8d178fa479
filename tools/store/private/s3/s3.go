// Package s3 keeps a private store in S3-compatible storage.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// Config says where a bucket is.
type Config struct {
	Endpoint string // host, with a port if it is not 443
	Region   string // "" where the service has none
	Bucket   string
	Prefix   string // of every name, "" or ending in a slash
	// AccessKey and SecretKey sign the requests, with SessionToken if there is one.
	AccessKey, SecretKey, SessionToken string
	// Transport is for tests; nil is the usual one.
	Transport http.RoundTripper
}

// Scheme starts the address of a bucket.
const Scheme = "s3://"

// Parse reads the address s3://ENDPOINT/BUCKET[/PREFIX][?region=REGION]. Keys
// come from the environment, in the names that every S3 client reads:
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
func Parse(address string, getenv func(string) string) (Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" || u.User != nil { // its text may quote a password
		return Config{}, errors.New("a bucket's address is s3://ENDPOINT/BUCKET[/PREFIX][?region=REGION], without keys")
	}
	bucket, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if prefix != "" {
		prefix += "/"
	}
	c := Config{
		Endpoint: u.Host, Region: u.Query().Get("region"), Bucket: bucket, Prefix: prefix,
		AccessKey: getenv("AWS_ACCESS_KEY_ID"), SecretKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
	}
	switch {
	case bucket == "":
		return c, fmt.Errorf("%s%s names no bucket", Scheme, u.Host)
	case s3utils.CheckValidBucketName(bucket) != nil:
		return c, fmt.Errorf("%s%s/%s: no bucket can have that name", Scheme, u.Host, bucket)
	case c.AccessKey == "" || c.SecretKey == "":
		return c, fmt.Errorf("%s%s/%s needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", Scheme, u.Host, bucket)
	}
	return c, nil
}

// bucket implements private.Bucket.
type bucket struct {
	client       *minio.Client
	name, prefix string
}

// Open returns the bucket. It is not asked for before the first call.
func Open(c Config) (private.Bucket, error) {
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken), Secure: true, Region: c.Region,
		Transport: c.Transport, BucketLookup: minio.BucketLookupAuto, MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %s: %w", c.Bucket, err)
	}
	return &bucket{client, c.Bucket, c.Prefix}, nil
}

// Put implements private.Bucket. Storage makes an object visible when all of
// it is there.
func (b *bucket) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := private.CheckName(name); err != nil {
		return err
	}
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, r, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return b.failed("keeping", name, err)
}

// Get implements private.Bucket.
func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := private.CheckName(name); err != nil {
		return nil, err
	}
	o, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat() // the first request
	}
	if err != nil {
		return nil, b.failed("fetching", name, err)
	}
	return o, nil
}

// List implements private.Bucket.
func (b *bucket) List(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, b.failed("listing", prefix, o.Err)
		}
		out = append(out, strings.TrimPrefix(o.Key, b.prefix))
	}
	slices.Sort(out)
	return out, nil
}

// Delete implements private.Bucket.
func (b *bucket) Delete(ctx context.Context, name string) error {
	if err := private.CheckName(name); err != nil {
		return err
	}
	err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil
	}
	return b.failed("removing", name, err)
}

// failed gives an error of the service its words, and absence its error.
func (b *bucket) failed(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	if name != "" {
		doing += " " + name + " in"
	}
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		err = fs.ErrNotExist
	}
	return fmt.Errorf("%s bucket %s: %w", doing, b.name, err)
}
